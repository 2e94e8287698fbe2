/** The words of a message that is a JSON object, or `logfmt`: what its fields for messages and errors say, instead of braces and quotes (Decisions 6). */
import { isJsonObject } from '../../json/is-json-object.ts'
import { maskMessage } from './pattern.ts'
import { withoutTerminalCodes } from './terminal-codes.ts'
import { withoutWrapping } from './wrapped-exception.ts'

/** Longer bodies are not taken apart. */
const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 4
const MAX_TEXT = 1_024
/** The message of Serilog, with its values or without: the first of these that is there. */
const TEMPLATE_KEYS = ['@m', 'RenderedMessage', '@mt', 'MessageTemplate'] as const
/** Fields that loggers use, in the order in which people read them. */
const TEXT_KEYS = [
  'message',
  'msg',
  '@message',
  'short_message',
  'MESSAGE',
  'fields',
  'log',
  'event',
  'error',
  'error.message',
  'error.url',
  'err',
  'exception',
  'Exception',
  '@x',
  'exc_info',
  'cause',
  'detail',
  'reason',
  'attr',
] as const
/** Fields of stack traces, where no other field tells the error: what they begin with, or were caused by. */
const STACK_KEYS = ['stack_trace', 'error.stack_trace', 'stackTrace', 'stacktrace', 'stack', 'throwable', 'thrown'] as const
/** A line of a stack trace that names an exception. */
const THROWN = /^(?:[A-Za-z_$][\w$]{0,60}\.){0,10}[A-Z][\w$]{0,80}(?::|$)/
/** The object that an event of Kubernetes tells of, in its two versions. */
const OBJECT_KEYS = ['involvedObject', 'regarding'] as const
/** Fields with an error of its own, in which an address is the one that was asked. */
const ERROR_KEYS: ReadonlySet<string> = new Set(['error', 'err', 'exception', 'cause'])
const ERROR_NAMES = ['error', 'error.message', 'err', 'exception', 'Exception', '@x', 'exc_info'] as const
/** Parts are read in this order, with this between them. */
const BETWEEN = ': '

/** A level, and behind it or before it a message, each as `key=value`. */
const LOGFMT = /(?:^|\s)(?:level|lvl|severity)=\S.{0,400}?\s(?:msg|message)=|(?:^|\s)(?:msg|message)=.{1,400}?\s(?:level|lvl|severity)=\S/s
/** Values of fields for messages and errors, in quotes or not. */
const LOGFMT_TEXTS = /(?:^|\s)(?:msg|message|err|error|exception|cause|reason)=(?:"((?:[^"\\]|\\.){1,1024})"|([^\s"]\S{0,200}))/g
/** A pattern of such a line that lacks its words. */
const LOGFMT_PATTERN = /(?:^|\s)(?:msg|message)=<\*>/
/** Structured lines of Kubernetes: `E0303 04:00:01.123456       1 kubelet.go:114] "Error syncing pod" err="no room" pod="shop/orders-0"`. */
const KLOG_HEAD = '^[DIWEF](?:\\d{4}|<\\*>)\\s+\\S{1,40}\\s+(?:\\d{1,10}|<\\*>)\\s+[\\w./-]{1,80}:(?:\\d{1,10}|<\\*>)\\] '
const KLOG = new RegExp(`${KLOG_HEAD}"((?:[^"\\\\]|\\\\.){1,1024})"`)
/** The kubelet tells of many pods in the same words. */
const KLOG_POD = /(?:^| )pod="((?:[a-z0-9-]{1,63}\/)?[a-z0-9.-]{1,253})"/i
const KLOG_PATTERN = new RegExp(`${KLOG_HEAD}<\\*>(?: |$)`)

/** A message that is neither, or has no such field, as it is but for the colours of a terminal. */
export function readableText(message: string): string {
  const start = message.slice(0, MAX_TEXT).trimStart()
  if (!start.startsWith('{') || message.length > MAX_CHARACTERS) {
    const text = withoutTerminalCodes(message.slice(0, 2 * MAX_TEXT)).slice(0, MAX_TEXT)
    return (textOfKlog(text) ?? textOfLogfmt(text) ?? text).toWellFormed()
  }
  const texts = new Set<string>()
  try {
    collect(JSON.parse(message), texts, 0)
  } catch {
    // Text that only looks like JSON.
  }
  return withoutTerminalCodes(texts.size === 0 ? message : [...texts].join(BETWEEN))
    .slice(0, MAX_TEXT)
    .toWellFormed()
}

/** The words of a message whose pattern is that of a JSON object, or of `logfmt`, and says nothing, masked as patterns are; undefined for other patterns. */
export function wordsOfFields(pattern: string, message: string): string | undefined {
  return lacksWords(pattern) ? maskMessage(readableText(message)) : undefined
}

/** Whether a pattern is that of a JSON object, or of a line whose words stand in quotes: it masks all that tells statements apart. */
export function lacksWords(pattern: string): boolean {
  return pattern.startsWith('{') || LOGFMT_PATTERN.test(pattern) || KLOG_PATTERN.test(pattern)
}

function textOfKlog(text: string): string | undefined {
  const [head, said] = KLOG.exec(text) ?? []
  if (head === undefined) return undefined
  const fields = text.slice(head.length)
  const [, pod] = KLOG_POD.exec(fields) ?? []
  return joined([unescaped(said!), ...textsOfFields(fields), ...(pod === undefined ? [] : [`pod ${pod}`])])
}

function textOfLogfmt(text: string): string | undefined {
  const said = LOGFMT.test(text) ? textsOfFields(text) : []
  return said.length === 0 ? undefined : joined(said)
}

function textsOfFields(text: string): readonly string[] {
  return [...text.matchAll(LOGFMT_TEXTS)].map(([, quoted, word]) => (quoted === undefined ? word! : unescaped(quoted)))
}

const joined = (texts: readonly string[]) => [...new Set(texts)].join(BETWEEN)

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`))
  } catch {
    return quoted
  }
}

function collect(value: unknown, texts: Set<string>, depth: number, isOfError = false): void {
  if (typeof value === 'string') {
    const text = withoutWrapping(value)
    // The message often holds the text of its error.
    if (text.trim() !== '' && ![...texts].some(other => other.includes(text))) texts.add(text)
    return
  }
  if (depth >= MAX_DEPTH || !isJsonObject(value)) return
  const fields = value
  const template = TEMPLATE_KEYS.find(key => fields[key] !== undefined)
  if (template !== undefined) collect(fields[template], texts, depth + 1)
  for (const key of TEXT_KEYS) collect(fields[key], texts, depth + 1, ERROR_KEYS.has(key))
  const stack = ERROR_NAMES.some(key => fields[key] !== undefined) ? undefined : STACK_KEYS.map(key => fields[key]).find(Boolean)
  if (typeof stack === 'string') collectThrown(stack, texts)
  for (const key of OBJECT_KEYS) {
    const { kind, name } = (fields[key] ?? {}) as Readonly<Record<string, unknown>>
    if (typeof kind === 'string' && typeof name === 'string') collect(`${kind} ${name}`, texts, depth + 1)
  }
  if (isOfError) collect(fields['url'], texts, depth + 1)
}

function collectThrown(stack: string, texts: Set<string>): void {
  const [first = ''] = withoutWrapping(stack).split('\n', 1)
  if (THROWN.test(first)) collect(first.trim(), texts, MAX_DEPTH)
}
