/** Lists in messages for people. */

/** `a, b and c` */
export function listWords(words: readonly string[]): string {
  return words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** The words, or the first `most` of them and how many more there are. */
export function shortenedList(words: readonly string[], most: number): readonly string[] {
  return words.length <= most ? words : [...words.slice(0, most), `${words.length - most} more`]
}

/** `a, b, c`, or the first `most` of them and ` …` for the rest. */
export function firstOf(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} …` : names.join(', ')
}
