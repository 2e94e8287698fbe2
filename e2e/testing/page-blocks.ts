/** The fenced blocks of a page, and what stands above a block that no test can run: `<!-- not run here: reason -->`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export interface PageBlock {
  /** The whole info string, such as `sh` or `yaml kubernetes`. */
  readonly language: string
  readonly text: string
  /** Why no test runs it. */
  readonly notRun?: string
}

const BLOCK = /(?:<!-- not run here: ([^\n]+) -->\n)?^```([^\n]*)\n([\s\S]*?)^```$/gm

/** `page` is a path from the top of the repository. */
export function pageBlocks(page: string): readonly PageBlock[] {
  const text = readFileSync(resolve(ROOT, page), 'utf8')
  return [...text.matchAll(BLOCK)].map(([, notRun, language, block]) => ({
    language: language!,
    text: block!,
    ...(notRun !== undefined && { notRun }),
  }))
}

/** The shell blocks that a test has to run, in order. */
export function commandsOf(page: string): readonly string[] {
  return pageBlocks(page)
    .filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
    .map(({ text }) => text)
}

/** The only block in a language. Throws when there is none, or more than one. */
export function onlyBlock(page: string, language: string): string {
  const blocks = pageBlocks(page).filter(block => block.language === language)
  if (blocks.length !== 1) throw new Error(`${page}: expected one block of ${language}, found ${blocks.length}`)
  return blocks[0]!.text
}
