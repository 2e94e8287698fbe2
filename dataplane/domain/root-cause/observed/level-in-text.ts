/** Whether a line of text without a severity of its own tells that it is an error, or a warning: `2026-03-03 04:00:01 ERROR [main] ...` (Decisions 6). */
import { withoutTerminalCodes } from '../../records/terminal-codes.ts'

/** The level stands at the start of a line, after a time and perhaps a thread. */
const MAX_CHARACTERS = 160
const NUMBER = '(?:\\d{1,10}|<\\*>)'
/** The first level that a line names is its own: `INFO retrying after ERROR` is none. */
const LEVEL = new RegExp(
  [
    // klog: `E0303 04:00:01.123456       1 controller.go:114] `
    `^([DIWEF])(?:\\d{4}|<\\*>)\\s+\\S{1,40}\\s+${NUMBER}\\s+[\\w./-]{1,80}:${NUMBER}\\]`,
    // .NET: `fail: Shop.Orders.Api[0]`
    `^(trce|dbug|info|warn|fail|crit): [^\\s[]{1,120}\\[${NUMBER}\\]`,
    // Behind a dot for Monolog (`production.ERROR: `), before a slash for Celery (`ERROR/MainProcess`), short for Serilog.
    `(?:^|[\\s[(<|]|\\w\\.(?=[A-Z]{4,9}:))(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|CRIT|FATAL|PANIC|EMERG|EMERGENCY|ALERT|DBG|INF|WRN|ERR|FTL)(?=[\\s\\])>|:,/]|$)`,
    // Small letters are words as well: at the start, behind a time, a program of syslog or a tab of zap.
    `(?:^(?:<\\*> ){0,3}|\\]: |\\t)(trace|debug|info|notice|warn|warning|error|dpanic|panic|crit|critical|fatal|alert|emerg)(?=: |\\t)`,
    `\\b(?:level|lvl|severity)=["']?(\\w+)`,
    // Apache names the module before it: `[mpm_event:error]`.
    `\\[(?:\\w{1,40}:)?(debug|info|[Nn]ote|notice|warn|[Ww]arning|error|crit|alert|emerg)\\]`,
    // Redis and Valkey, by a sign: `1:M 03 Mar 2026 04:00:01.123 # Background saving error`.
    `^${NUMBER}:[XCSM] (?:${NUMBER}|\\d\\d) \\w{3} (?:${NUMBER}|\\d{4}) (?:<\\*>|[\\d:.]{1,15}) (#)`,
  ].join('|'),
)
/** JSON, whose pattern has the level wherever its key stands (records/pattern.ts): what its message says tells no level. */
const JSON_LEVEL = new RegExp(
  [
    // By the word, or as pino and bunyan number it.
    `"(?:@?[Ll]evel|[Ll]og[._]?[Ll]evel|levelname|lvl|@l|[Ss]everity(?:_?[Tt]ext)?)": ?"?(\\w+)`,
    // MongoDB: by a letter, behind the time. `s` alone may stand for anything.
    `^\\{"t": ?\\{"\\$date": ?(?:<\\*>|"[^"]{1,40}")\\}, {0,2}"s": ?"([DIWEF])"`,
  ].join('|'),
)
const MAX_JSON = 1_024
/** Programs that die write no level, nor do the kernel that kills one, PHP behind its process manager, and SQL Server. */
const CRASH =
  /^(?:.{0,80}\b(?:[Oo]ut of memory: Kill|PHP (?:Fatal|Parse) error: |Error: (?:\d+|<\*>), Severity: )|runtime: out of memory|panic: |Traceback \(most recent call last\)|Exception in thread |[Uu]nhandled exception\b|Uncaught \w*(?:Error|Exception)\b|(?:PHP )?[Ff]atal error: |thread .{1,60} panicked at |terminate called |Segmentation fault|\(node:<\*>\) UnhandledPromiseRejection)/
/** Neither does a line that begins with the name of an exception: `java.lang.IllegalStateException: no cart`, `Error: no cart`. */
const EXCEPTION = /^(?:Caused by: )?(?:[A-Za-z_$][\w$]{0,60}\.){0,10}(?:[A-Z][\w$]{0,80})?(?:Error|Exception)(?::|$)/
/** Kubernetes has no level above Warning; what it warns of all the time is nothing new. */
const EVENT = /^\{(?=.{0,1024}"reason": ?).{0,1024}"type": ?"Warning"/s
const ERRORS = new Set('ERROR SEVERE CRITICAL CRIT FATAL DPANIC PANIC EMERG EMERGENCY ALERT ERR FTL FAIL E F 50 60'.split(' '))
const DEBUGS = new Set('TRACE DEBUG DBG TRCE DBUG D 10 20'.split(' '))
const WARNINGS = new Set('WARN WARNING WRN W # 40'.split(' '))

export function saysError(message: string): boolean {
  return levelInText(message) === 'error'
}

/** Undefined: INFO, or no level at all. */
export function levelInText(message: string): 'error' | 'warning' | 'debug' | undefined {
  const start = withoutTerminalCodes(message.slice(0, MAX_CHARACTERS))
  if (CRASH.test(start) || EXCEPTION.test(start)) return 'error'
  if (EVENT.test(message)) return 'error'
  const isJson = message.startsWith('{')
  const [, ...levels] = (isJson ? JSON_LEVEL.exec(message.slice(0, MAX_JSON)) : LEVEL.exec(start)) ?? []
  const level = levels.find(each => each !== undefined)?.toUpperCase() ?? ''
  if (ERRORS.has(level)) return 'error'
  return WARNINGS.has(level) ? 'warning' : DEBUGS.has(level) ? 'debug' : undefined
}
