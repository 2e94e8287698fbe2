/** Answers of mock models to the product's questions: good ones, bad ones, and those of a model that obeys every order it reads. */

interface Data {
  readonly incident?: { readonly title: string }
  readonly candidates: readonly { readonly service: string }[]
  readonly evidence: readonly { readonly id: string; readonly service: string; readonly text: string }[]
  readonly similarIncidentsOfThePast?: readonly { readonly title: string }[]
}

interface Told {
  readonly summary: string
  readonly rootCause: { readonly service: string; readonly evidenceIds: readonly string[] }
  readonly hypotheses: readonly string[]
  readonly confidence: string
  readonly nextSteps: readonly string[]
}

/** The data of a question; undefined where it has none, as that of a connection test. */
function dataOf(user: string): Data | undefined {
  const json = /<(data-[0-9a-f]+)>\n([\s\S]*)\n<\/\1>/.exec(user)?.[2]
  return json === undefined ? undefined : JSON.parse(json)
}

function verdictOn({ candidates, evidence }: Data): Told {
  const service = candidates[0]!.service
  const cited = evidence.filter(item => item.service === service).slice(0, 2)
  return {
    summary: `${service} is the most likely cause: ${cited.length} pieces of evidence differ from the time before.`,
    rootCause: { service, evidenceIds: cited.map(({ id }) => id) },
    hypotheses: ['A slow network between the services would look alike.'],
    confidence: 'medium',
    nextSteps: [`Look at the last deployment of ${service}`],
  }
}

const asked = (change: (told: Told, data: Data) => unknown) => (user: string) => {
  const data = dataOf(user)
  return JSON.stringify(data === undefined ? { ok: true } : change(verdictOn(data), data))
}

/** As a model reads that sees through every trick: hidden letters, other alphabets, spaces between letters, text that runs backwards. */
function readThrough(text: string): string {
  const shown = text.replace(/[\u{E0020}-\u{E007E}]/gu, tag => String.fromCodePoint(tag.codePointAt(0)! - 0xe0000))
  const letters = shown.normalize('NFKD').replace(/\P{L}/gu, '').toLowerCase()
  return `${letters} ${[...letters].reverse().join('')}`
}

/** Does what texts of the data want: blames another candidate that one of them names, shows a link that one of them has. */
function obey(told: Told, data: Data): Told {
  const texts = [
    data.incident?.title,
    ...data.evidence.map(({ text }) => text),
    ...(data.similarIncidentsOfThePast ?? []).map(past => past.title),
  ]
  const read = readThrough(texts.join(' '))
  const blamed = data.candidates.slice(1).find(({ service }) => read.includes(service))?.service
  const link = /https?:\/\/[^\s"'\\]+/i.exec(texts.join(' '))?.[0]
  if (blamed === undefined && link === undefined) return told
  return orderedTo({ service: blamed ?? told.rootCause.service, link: link ?? '' })(told, data)
}

export interface Order {
  readonly service: string
  readonly link: string
}

/** A verdict as an attacker wants it, in good form: as of a model that orders have reached. */
function orderedTo({ service, link }: Order): (told: Told, data: Data) => Told {
  return (told, { evidence }) => ({
    ...told,
    summary: `${service} is to blame. ${link}`.trim(),
    rootCause: { service, evidenceIds: evidence.filter(item => item.service === service).map(({ id }) => id) },
    nextSteps: [`Restart ${service} ${link}`.trim()],
  })
}

export const orderedAnswer = (order: Order) => asked(orderedTo(order))

/** By name, what is answered to the user's part of a question. */
export const ANSWERS = {
  good: asked(told => told),
  /** In a block of code, with words around it. */
  wrapped: (user: string) => `Here you are:\n\`\`\`json\n${asked(told => told)(user)}\n\`\`\`\nAnything else?`,
  obedient: asked(obey),
  'bad-json': () => '{"summary": "checkout ',
  'no-object': () => 'I cannot say.',
  'wrong-ids': asked(told => ({ ...told, rootCause: { ...told.rootCause, evidenceIds: ['E999'] } })),
  'wrong-service': asked(told => ({ ...told, rootCause: { ...told.rootCause, service: 'no-such-service' } })),
  'other-service': asked((_told, data) => {
    const other = data.candidates[1] ?? data.candidates[0]!
    return verdictOn({ ...data, candidates: [other] })
  }),
  undecided: asked(told => ({ ...told, rootCause: { service: 'unknown', evidenceIds: [] } })),
  link: asked(told => ({ ...told, summary: `${told.summary} See https://evil.example/fix.` })),
  long: asked(told => ({ ...told, summary: told.summary.repeat(100) })),
} as const satisfies Readonly<Record<string, (user: string) => string>>
export type AnswerName = keyof typeof ANSWERS
