/** Resolves to false once nobody reads any more, as after `| head`. */
export type Print = (text: string) => Promise<boolean>

const PRINTED_AT_ONCE = 65_536

/** Prints lines in large pieces, no faster than they are read. Stops early, and resolves to false, when nobody reads any more. */
export async function printLines(lines: AsyncIterable<string>, print: Print): Promise<boolean> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < PRINTED_AT_ONCE) continue
    if (!(await print(text))) return false
    text = ''
  }
  return text === '' || (await print(text))
}
