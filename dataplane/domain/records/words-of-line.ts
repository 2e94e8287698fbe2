/** The words that a program meant to say by a line of its log (Decisions 6). */
import { withoutHead } from './line-head.ts'
import { withoutTerminalCodes } from './terminal-codes.ts'
import { withoutWrapping } from './wrapped-exception.ts'

/** A message or pattern in one colour, without the head that its logger wrote and the words in which a framework wraps an exception. */
export const wordsOfLine = (line: string): string => withoutWrapping(withoutHead(withoutTerminalCodes(line)))
