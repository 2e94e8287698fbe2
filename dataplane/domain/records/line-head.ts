/** The head of a line that a logger wrote as a whole: time, level, thread and logger before the words (Decisions 6). */

const LEVELS = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|CRIT|FATAL|PANIC|EMERG'
const SMALL_LEVELS = 'trace|debug|info|notice|warn|warning|error|crit|critical|fatal|alert|emerg'
/** Levels in small letters are words as well: they count in brackets, before a colon or a tab, or behind `level=`. */
const LEVEL = `(?:\\b(?:${LEVELS}|LOG(?=: {2}))\\b|\\[(?:${SMALL_LEVELS}|Note|Warning|System)(?=\\])|\\b(?:${SMALL_LEVELS})(?=:\\s|\\t)|\\b(?:level|lvl|severity)=["']?\\w{1,12}["']?)`
const NUMBER = '(?:\\d{1,10}|<\\*>)'
/** Spring Boot writes `ERROR 1 --- [main] o.s.Class : `. */
const SPRING = `${NUMBER}\\s{1,10}---\\s{1,10}(?:\\[[^\\]]{0,80}\\]\\s{0,10}){0,4}\\S{1,100}\\s{0,50}:\\s+`
/** A logger is a dotted name with a colon or with a capital in its last part. The name of an exception is none: that belongs to the words. */
const DOTTED = '(?![\\w.$-]{0,200}(?:Error|Exception)\\b)[\\w$-]{1,40}(?:\\.[\\w$-]{1,60}){0,7}'
/** Rust's tracing writes the module: `shop::orders: `. An error's name is none. */
const MODULE = '(?![\\w:]{0,200}Error\\b)\\w{1,60}(?:::\\w{1,60}){1,8}:\\s+'
const LOGGER = `(?:[\\w.$-]{1,100}\\s+-\\s+|${MODULE}|${DOTTED}(?:\\.[\\w$-]{1,60}:|\\.[A-Z][\\w$-]{0,60}:?)\\s+)`
/** Rust writes `[time INFO shop::orders] `. */
const BRACKETS = '(?:[\\w:./-]{1,80}\\]\\s+)?(?:[[(][^\\])]{0,80}[\\])]:?\\s*)*'
/** nginx writes its process, thread and connection: `29#29: *17 `. */
const NGINX = `${NUMBER}#${NUMBER}: (?:\\*${NUMBER} )?`
/** Erlang, and so RabbitMQ, writes its process. */
const ERLANG = '<(?:[\\d.]{5,20}|<\\*>)>\\s+'

const HEAD = new RegExp(
  `^(?:${[
    // klog: `E0303 04:00:01.123456       1 controller.go:114] `
    `[DIWEF](?:\\d{4}|<\\*>)\\s+\\S{1,40}\\s+${NUMBER}\\s+[\\w./-]{1,80}:${NUMBER}\\]\\s+`,
    // .NET: `fail: Shop.Orders.Api[0]`, and the words on the next line.
    `(?:trce|dbug|info|warn|fail|crit): [^\\s[]{1,120}\\[${NUMBER}\\]\\s+`,
    // A priority of syslog: `<11>Mar  3 04:00:01 web-1 shop[12]: `, or without time and host.
    `<(?:\\d{1,3}|<\\*>)>(?:\\S{1,40}\\s+){0,4}?[\\w./-]{1,60}(?:\\[${NUMBER}\\])?: `,
    // Redis: `1:M 03 Mar 2026 04:00:01.123 # `
    `${NUMBER}:[CMSX] (?:\\S{1,20} ){2,4}[-.*#] `,
    // Serilog, by default: `[04:00:01 INF] `
    `\\[(?:[\\d:.T+Z -]{8,40}|<\\*>) (?:VRB|DBG|INF|WRN|ERR|FTL)\\]\\s+`,
    // NATS: `[1] 2026/03/03 04:00:01.123456 [WRN] `
    `\\[${NUMBER}\\] (?:[\\d/]{8,10} [\\d:.]{8,20}|<\\*> <\\*>) \\[(?:TRC|DBG|INF|WRN|ERR|FTL)\\]\\s+`,
    // Python, by default: `ERROR:root:`
    `(?:${LEVELS}):[\\w.-]{1,60}:`,
    `(.{0,100}?)${LEVEL}(?:/[\\w-]{1,40})?(?: {0,5}[\\])])?:?(?:\\s+|(?=\\[))(?:${SPRING}|${NGINX}|${ERLANG}|${BRACKETS}(?:-\\s+|${LOGGER})?)`,
  ].join('|')})`,
  's',
)
/** Words before a level that belong to the message, not to the head of a line. */
const PROSE = /[a-z]{2,} [a-z]{2,}/
/** Kafka writes where it is, which is no prose: `[ReplicaManager broker=1] `. */
const PLACE = /\[[^\]=]{1,60}=[^\]]{1,60}\]/g
/** A time, a process or something in brackets stands before the level, where anything does; no word with its number. */
const BEFORE_LEVEL = /[\d<[(]/
const COUNTED = /\b(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b)[A-Za-z]{3,} (?:\d|<\*>)/

/** A line without its head; one whose first words are prose, as it is. */
export function withoutHead(line: string): string {
  const found = HEAD.exec(line)
  if (found === null) return line
  const [head, before = ''] = found
  const hasTime = before === '' || (BEFORE_LEVEL.test(before) && !COUNTED.test(before))
  return hasTime && !PROSE.test(head.replace(PLACE, '')) && line.slice(head.length).trim() !== '' ? line.slice(head.length) : line
}
