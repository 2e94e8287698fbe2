/** Whether a model's answer may be used (Decisions 6). A model explains the verdict of the rules; a verdict of its own counts for nothing. */

import { isJsonObject } from '../../json/is-json-object.ts'
import { maskPrivate } from './mask-private.ts'
import { speaksToReaders } from './orders.ts'
import { hasLink, plainText } from './plain-text.ts'
import type { Prompt } from './prompt.ts'
import { CONFIDENCES, NO_SERVICE } from './verdict-schema.ts'

const MAX_ANSWER_LENGTH = 20_000
const MAX_SUMMARY_LENGTH = 800
const MAX_STEP_LENGTH = 200
const MAX_STEPS = 5
const MAX_HYPOTHESES = 10
const MAX_CITED = 60

export interface Verdict {
  /** A candidate, or `unknown`. */
  readonly service: string
  readonly summary: string
  readonly nextSteps: readonly string[]
}

export type Judgement =
  | { readonly kind: 'fits'; readonly verdict: Verdict }
  /** Cannot be used; `problem` is for the model, to mend it, and for people. */
  | { readonly kind: 'unfit'; readonly problem: string }
  /** Fits, but speaks for another service than the rules, or for none where the rules are clear. */
  | { readonly kind: 'disagrees'; readonly service: string }

/** `isClear`: the rules name a cause, not only what is most unusual. */
export interface Asked extends Pick<Prompt, 'services' | 'evidence'> {
  readonly isClear: boolean
}

export function judge(answer: string, asked: Asked): Judgement {
  try {
    const verdict = readVerdict(answer, asked)
    const agrees = verdict.service === asked.services[0] || (verdict.service === NO_SERVICE && !asked.isClear)
    return agrees ? { kind: 'fits', verdict } : { kind: 'disagrees', service: verdict.service }
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unfit', problem: error.message }
    throw error
  }
}

class Unfit extends Error {}

function readVerdict(answer: string, { services, evidence }: Asked): Verdict {
  const { summary, rootCause, hypotheses, confidence, nextSteps } = readObject(answer)
  const { service, evidenceIds } = asObject(rootCause, 'rootCause')
  if (typeof service !== 'string' || (service !== NO_SERVICE && !services.includes(service)))
    throw unfit('rootCause.service', `one of ${JSON.stringify([...services, NO_SERVICE])}`, service)
  const cited = asTexts(evidenceIds, { field: 'rootCause.evidenceIds', most: MAX_CITED, longest: 20 })
  const strange = cited.find(id => !evidence.has(id))
  if (strange !== undefined) throw unfit('rootCause.evidenceIds', 'ids of the evidence alone', strange)
  if (service !== NO_SERVICE && !cited.some(id => evidence.get(id) === service))
    throw unfit('rootCause.evidenceIds', `an id of evidence of ${service} at least`, cited)
  if (!isLeftOut(confidence) && !isConfidence(confidence)) throw unfit('confidence', `one of ${JSON.stringify(CONFIDENCES)}`, confidence)
  // Never shown; a model that writes here what it must not is not to be trusted with the rest.
  for (const text of asTexts(hypotheses ?? [], { field: 'hypotheses', most: MAX_HYPOTHESES, longest: MAX_SUMMARY_LENGTH }))
    readText(text, 'hypotheses', MAX_SUMMARY_LENGTH)
  return {
    service,
    summary: readSummary(summary, service === NO_SERVICE ? services[0]! : service, services),
    nextSteps: asTexts(nextSteps ?? [], { field: 'nextSteps', most: MAX_STEPS, longest: 5 * MAX_STEP_LENGTH }).map(step =>
      readText(step, 'nextSteps', MAX_STEP_LENGTH),
    ),
  }
}

/** Models that are held to no schema leave fields out. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null
}

/** Never shown either. Models that are held to no schema like to give a share of 1. */
function isConfidence(value: unknown): boolean {
  if (typeof value === 'number') return value >= 0 && value <= 1
  return typeof value === 'string' && CONFIDENCES.some(name => name === value.toLowerCase())
}

/** The summary must name no other candidate before the service that the rules name first; the name is put before one that names none. */
function readSummary(value: unknown, service: string, services: readonly string[]): string {
  const text = readText(value, 'summary', MAX_SUMMARY_LENGTH)
  const first = services
    .map(name => ({ name, at: placeOf(name, text) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.name.length - a.name.length)[0]?.name
  if (first === undefined) return `${service}: ${text}`
  if (first !== service) throw unfit('summary', `text that begins with ${service}`, first)
  return text
}

/** Where the name stands as a word of its own; -1 where it does not. */
function placeOf(name: string, text: string): number {
  const small = text.toLowerCase()
  const wanted = plainText(name).toLowerCase()
  for (let at = small.indexOf(wanted); at >= 0; at = small.indexOf(wanted, at + 1)) {
    const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_-]/u.test(character)
    if (!isWord(small[at - 1]) && !isWord(small[at + wanted.length])) return at
  }
  return -1
}

/** Plain text for people: no links, no markup, no commands to paste, nobody called. */
function readText(value: unknown, field: string, longest: number): string {
  if (typeof value !== 'string') throw unfit(field, 'text', value)
  const text = plainText(value)
  if (text === '' || text.length > longest) throw unfit(field, `1 to ${longest} characters`, `${text.length} characters`)
  if (hasLink(text)) throw unfit(field, 'text without links and addresses', 'one')
  const mark = /[<>`|\\]|\$\(|&&|\*\*|^#|\s@|^@/.exec(text)?.[0]
  if (mark !== undefined) throw unfit(field, 'plain text without markup, code and mentions', mark.trim())
  if (speaksToReaders(text)) throw unfit(field, 'text about the incident', 'instructions to a reader')
  return maskPrivate(text)
}

function readObject(answer: string): Readonly<Record<string, unknown>> {
  if (answer.length > MAX_ANSWER_LENGTH) throw unfit('the answer', `at most ${MAX_ANSWER_LENGTH} characters`, answer.length)
  // Models without a schema like to put JSON into a block of code, with words around it.
  const text = answer.slice(Math.max(answer.indexOf('{'), 0), answer.lastIndexOf('}') + 1)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unfit('the answer', 'one JSON object', answer.slice(0, 80))
  }
  return asObject(value, 'the answer')
}

function asObject(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw unfit(field, 'an object', value)
  return value
}

function asTexts(value: unknown, { field, most, longest }: { field: string; most: number; longest: number }): readonly string[] {
  const isFit = Array.isArray(value) && value.length <= most && value.every(item => typeof item === 'string' && item.length <= longest)
  if (!isFit) throw unfit(field, `a list of at most ${most} texts of at most ${longest} characters`, value)
  return value as readonly string[]
}

function unfit(field: string, expected: string, seen: unknown): Unfit {
  return new Unfit(`${field}: expected ${expected}, seen ${plainText(JSON.stringify(seen) ?? 'nothing').slice(0, 120)}`)
}
