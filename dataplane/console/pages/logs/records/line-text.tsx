/** The text of a record in one line of a list, and words that are marked in a text. */
import { Fragment } from 'react'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { isBlank, NoMessage } from '../../../components/text/no-message.tsx'
import { type LogRecord, ownFieldsOf } from './log-record.ts'
import { markWords } from './mark-words.ts'

interface LineTextProps {
  readonly record: LogRecord
  /** Characters that are shown. */
  readonly max: number
  readonly marks?: RegExp | undefined
}

/** The message; of a record without one, the sender's own fields. Stands in an element that is `dir="auto"`. */
export function LineText({ record, max, marks }: LineTextProps) {
  if (isBlank(record.message)) return <NoMessage fields={ownFieldsOf(record).slice(0, max)} />
  return <Marked text={record.message.slice(0, max)} marks={marks} />
}

/** Stands in an element that is `dir="auto"`. */
export function Marked({ text, marks }: { readonly text: string; readonly marks: RegExp | undefined }) {
  return markWords(text, marks).map((span, at) => {
    const Span = span.isMarked ? 'mark' : Fragment
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
      <Span key={at}>
        <VisibleText text={span.text} />
      </Span>
    )
  })
}
