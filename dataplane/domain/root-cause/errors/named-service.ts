/** Which other service a message names: `call to payments failed` (Decisions 6). */

/** Shorter names are words of any message. */
const MIN_NAME = 3
const MAX_CHARACTERS = 400

/** The position in `services` of the first service that a message names, without the speaker itself; undefined without any. */
export type FindNamed = (message: string, speaker: number) => number | undefined

export function createFindNamed(services: readonly string[]): FindNamed {
  const byFirstWord = new Map<string, { readonly words: string; readonly service: number }[]>()
  for (const [service, name] of services.entries()) {
    const words = wordsOf(name)
    if (words.replaceAll(' ', '').length < MIN_NAME) continue
    const first = words.slice(1, words.indexOf(' ', 1))
    const sharing = byFirstWord.get(first)
    if (sharing === undefined) byFirstWord.set(first, [{ words, service }])
    else sharing.push({ words, service })
  }
  // The longest name of those that begin alike.
  for (const sharing of byFirstWord.values()) sharing.sort((a, b) => b.words.length - a.words.length)
  return (message, speaker) => {
    const words = wordsOf(message)
    for (let at = 0; at >= 0 && at < words.length - 1; at = words.indexOf(' ', at + 1)) {
      const first = words.slice(at + 1, words.indexOf(' ', at + 1))
      const named = byFirstWord.get(first)?.find(({ words: name }) => words.startsWith(name, at))
      if (named !== undefined && named.service !== speaker) return named.service
    }
    return undefined
  }
}

const UNSPACED = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}]'
/** Where a name in Latin letters meets a script that writes words without spaces, or joins particles to a name: `调用payments失败`. */
const SEAM = new RegExp(`(?<=${UNSPACED})(?=[a-z0-9])|(?<=[a-z0-9])(?=${UNSPACED})`, 'gu')

/** Lower case, one space around each word. */
function wordsOf(text: string): string {
  return ` ${text
    .slice(0, MAX_CHARACTERS)
    .toLowerCase()
    .replaceAll(SEAM, ' ')
    .split(/[^\p{L}\p{N}<*>]+/u)
    .filter(word => word !== '')
    .join(' ')} `
}
