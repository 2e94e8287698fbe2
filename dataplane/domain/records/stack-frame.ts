/** Whether a line continues a stack trace that is sent line by line: alone it says nothing, and there are many of them (Decisions 6). */

/** A number, also in a pattern. */
const NUMBER = '(?:\\d|<\\*>)'
const FRAME = new RegExp(
  `^\\s{0,40}(?:${[
    // Java, .NET, JavaScript.
    'at (?:async |new )?\\S{1,400}\\(',
    `at (?:async |new )?\\S{1,200}(?: \\[as \\S{1,80}\\])? \\((?:[^)\\s]{0,200}:${NUMBER}|<anonymous>|native)`,
    `at \\S{1,200}:${NUMBER}`,
    `\\.{3} ${NUMBER}{1,4} (?:more|common frames omitted)`,
    '--- End of (?:inner exception )?stack trace',
    // Python, Go, PHP, Ruby.
    `File (?:"[^"]{1,400}"|<\\*>), line ${NUMBER}{1,9}(?:, in |\\s{0,5}$)`,
    `goroutine ${NUMBER}{1,9} \\[`,
    `\\S{1,200}\\.go:${NUMBER}{1,6} (?:\\+|<\\*>)`,
    `created by \\S{1,200}\\.\\S{1,200}(?: in goroutine ${NUMBER}{1,9})?\\s{0,5}$`,
    `#${NUMBER}{1,3} (?:\\S{1,200}\\(|\\{main\\})`,
    `from \\S{1,200}:${NUMBER}{1,6}:in `,
  ].join('|')})`,
)

export function isStackFrame(message: string): boolean {
  return FRAME.test(message)
}
