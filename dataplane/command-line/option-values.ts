/** Values of command-line options. A value that is not as expected adds a problem, which names the option, and what was expected and seen. */

export interface Bounds {
  readonly min: number
  readonly max: number
}

/** `min` where the text is no whole number within the bounds. */
export function readInteger(option: string, text: string, { min, max }: Bounds, problems: string[]): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  problems.push(`${option}: expected a whole number from ${min} to ${max}, seen ${quote(text)}`)
  return min
}

/** `min` where the text is no decimal number within the bounds. */
export function readNumber(option: string, text: string, { min, max }: Bounds, problems: string[]): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  problems.push(`${option}: expected a number from ${min} to ${max}, seen ${quote(text)}`)
  return min
}

/** Undefined where the text is none of the names. */
export function readChoice<T extends string>(option: string, text: string, names: readonly T[], problems: string[]): T | undefined {
  const chosen = names.find(name => name === text)
  if (chosen === undefined) problems.push(`${option}: expected one of ${names.join(', ')}, seen ${quote(text)}`)
  return chosen
}

/** Some address of this machine where the text is no address of http or https. */
export function readHttpAddress(option: string, text: string, problems: string[]): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    problems.push(`${option}: expected an http or https address, seen ${quote(text)}`)
    return new URL('http://127.0.0.1')
  }
  return url
}

function quote(text: string): string {
  return text === '' ? 'nothing' : JSON.stringify(text)
}
