/**
 * Where a phrase stands among tokens: for each place, the token of each word. `slop` is how far the words may be moved from where the phrase
 * has them, all together; a word that the phrase holds twice takes two tokens.
 */
export function* phrasePlaces(
  tokens: readonly string[],
  words: readonly string[],
  slop: number,
  lastIsPrefix: boolean,
): Generator<readonly number[], void, undefined> {
  const fits = (token: string | undefined, at: number): boolean =>
    token !== undefined && (lastIsPrefix && at === words.length - 1 ? token.startsWith(words[at]!) : token === words[at])
  const starts = new Set<number>()
  tokens.forEach((token, place) => {
    for (let at = 0; at < words.length; at++) if (fits(token, at)) starts.add(place - at)
  })
  for (const start of starts) {
    const places = placesFrom(start)
    if (places !== undefined) yield places
  }

  /** The first token of each word that is moved by 0 to `slop` places from where it would be in a phrase at `start`. */
  function placesFrom(start: number): readonly number[] | undefined {
    const places: number[] = []
    for (let at = 0; at < words.length; at++) {
      let place = Math.max(0, start + at)
      while (place <= start + at + slop && (!fits(tokens[place], at) || places.includes(place))) place++
      if (place > start + at + slop) return undefined
      places.push(place)
    }
    return places
  }
}
