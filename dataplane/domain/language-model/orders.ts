/**
 * Whether a text speaks to a language model instead of about a system. What it finds is kept from the model: a line that is withheld by mistake costs a
 * sample, one that gets through costs trust. It is the first guard, not the only one: `verdict.ts` holds when a model obeys all the same.
 */
import { hidesText } from './plain-text.ts'

/** Letters that look like Latin ones, and digits that stand for letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  // biome-ignore-start format: rows of letters
  а: 'a',
  в: 'b',
  е: 'e',
  і: 'i',
  ј: 'j',
  к: 'k',
  м: 'm',
  н: 'h',
  о: 'o',
  р: 'p',
  с: 'c',
  ѕ: 's',
  т: 't',
  у: 'y',
  х: 'x',
  ԁ: 'd',
  ԛ: 'q',
  ԝ: 'w',
  һ: 'h',
  ӏ: 'l',
  α: 'a',
  β: 'b',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ı: 'i',
  ɡ: 'g',
  ⅼ: 'l',
  // biome-ignore-end format: rows of letters
}
const DIGITS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
}

/** Against the text as it is, in small letters. */
const TAGS: readonly RegExp[] = [
  /<\|?\/?\s{0,3}(?:im_start|im_end|im_sep|system|assistant|user|human|developer|endoftext|eot_id|start_header_id|end_header_id|tool|function|data)\b/,
  /\[\/?(?:inst|system|sys)\]|<<\/?sys>>/,
  /(?:^|[\n\r"'({[])\s{0,5}(?:system|assistant|developer|human)\s{0,3}:/,
  /["']?role(?:["']?\s{0,3}[:=]\s{0,3}["']?|<\*>)(?:system|assistant|user|developer|tool)\b/,
  /##\s{0,3}(?:system|instructions?|response|assistant|user|task)\b/,
  /```/,
  /\b(?:end|begin|close)\s{1,3}(?:of\s{1,3})?(?:the\s{1,3})?(?:untrusted\s{1,3})?(?:data|evidence|input|context|fence)\b/,
]

const FILLER =
  '(?:all|any|the|these|those|this|that|every|everything|of|your|my|is|what|was|said|it|and|a|an|also|following|please|here|to|only|our|on|other)*'

/** Orders to a reader. These and the next ones are held against the letters alone: spaces, dots and marks between them hide nothing. */
const TO_READERS = compile(
  `(?:ignore|ignoring|disregard|forget|override|bypass)${FILLER}(?:above|previous|prior|preceding|earlier|foregoing|instruction|prompt|guideline|evidence|system|statistics|ranking|rules)`,
  'newinstruction|updatedinstruction|systemprompt|systemmessage|developermessage|developermode|jailbreak|promptinjection|endofprompt|endofinstruction',
  `youarenow|youarean?(?:ai|assistant|languagemodel|helpful|agent)|fromnowon|pretend(?:to|that|you)|actas(?:a|an|the|if)|roleplay`,
  `(?:add|include|insert|append|attach|mention|paste|embed|write|give)${FILLER}(?:link|url|hyperlink|insummary|inyour|inthesummary)`,
  `(?:click|visit|goto|browse)${FILLER}(?:link|url|http|www|page|website)|(?:open|follow)(?:the|this)(?:link|url)`,
  `(?:dear|hey|hello|attention|(?:note|message|instructions?)(?:to|for))(?:the|any|all)?(?:ai|llm|languagemodel|assistant|chatbot|chatgpt|gpt|claude|copilot|gemini|sreagent|aiagent|model)`,
  `(?:llm|languagemodel|chatgpt|aiassistant|aiagent|aimodel)s?(?:reading|processing|analy[sz]ing|must|should|please|will|shall|summari[sz]ing)`,
  '(?:ignoriere|missachte|vergiss|beachte)\\p{L}{0,20}(?:oben|obige|vorherige|bisherige|anweisung|regeln)',
  '(?:ignore[zr]?|oublie[zr]?)\\p{L}{0,20}(?:precedent|cidessus|consigne)',
  '(?:ignora|olvida|ignore)\\p{L}{0,20}(?:anterior|instruccion|instrucoes|reglas)',
  '(?:忽略|无视|忘记)\\p{L}{0,10}(?:以上|之前|上述|上面|前面|指令|提示)|(?:以上|上記|前)の?指示を無視|игнорируй|забудь',
)

/** Words about a verdict: a model's own answer may use them. */
const OF_VERDICTS = compile(
  'blame|accuse|scapegoat',
  `(?:rootcause|realcause|truecause|culprit)${FILLER}(?:is|must|should|service|tobe|as|was)`,
  `(?:set|mark|name|report|choose|select|pick|cite|flag|use)${FILLER}(?:rootcause|culprit|candidate|evidenceid|confidence|hypothes|nextstep|insteadof)`,
  `(?:rootcause|evidenceids?|nextsteps?|hypotheses|confidence|thesummary|yoursummary|youranswer|youroutput|yourresponse)${FILLER}(?:must|should|is|be|equals|service)`,
)

/** Services say it of other services as well: `payments did not respond with JSON`. */
const OF_ANSWERS = compile(`(?:answer|reply|respond|conclude|output|declare|diagnose)${FILLER}(?:that|with|exactly|json|rootcause)`)

function compile(...sources: readonly string[]): readonly RegExp[] {
  return sources.map(source => new RegExp(source, 'u'))
}

/** For text of strangers. */
export function givesOrders(text: string): boolean {
  return isOrder(text) || says(OF_ANSWERS, text)
}

/** For the masked message of an error that names a service, which would be believed. A digit that stood for a letter is masked, too: `bl<*>me`. */
export function asksForBlame(pattern: string): boolean {
  return isOrder(pattern) || (MASKED_LETTER.test(pattern) && MASKED.some(letter => isOrder(pattern.replaceAll(MASKED_LETTERS, letter))))
}

const MASKED_LETTER = /\p{L}<\*>\p{L}/u
const MASKED_LETTERS = /(?<=\p{L})<\*>(?=\p{L})/gu
const MASKED = ['a', 'e', 'i', 'o'] as const

function isOrder(text: string): boolean {
  return hidesText(text) || TAGS.some(tag => tag.test(text.normalize('NFKC').toLowerCase())) || says([...TO_READERS, ...OF_VERDICTS], text)
}

/** For an answer: it may well say what the root cause is. */
export function speaksToReaders(text: string): boolean {
  return says(TO_READERS, text)
}

function says(orders: readonly RegExp[], text: string): boolean {
  const bare = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const latin = replaceEach(bare, LOOKALIKES)
  return [bare, latin, replaceEach(latin, DIGITS)].some(form => {
    const letters = form.replace(/\P{L}/gu, '')
    return orders.some(order => order.test(letters))
  })
}

function replaceEach(text: string, by: Readonly<Record<string, string>>): string {
  return [...text].map(character => by[character] ?? character).join('')
}
