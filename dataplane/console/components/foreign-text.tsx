/** Text of others, such as a message or the name of a service: nothing in it is hidden, and it turns nothing round that stands beside it. */

import styles from './foreign-text.module.css'
import { nameHidden, textParts, visibleText } from './visible-text.ts'

export interface ForeignTextProps {
  readonly text: string
}

/** Within a line. */
export function ForeignText({ text }: ForeignTextProps) {
  return (
    <bdi>
      <VisibleText text={text} />
    </bdi>
  )
}

/** Above so many the names of hidden characters are plain text. */
const MAX_STYLED = 500

/** The text of an element of its own, which is `dir="auto"`: a `bdi` would not count for its direction. */
export function VisibleText({ text }: ForeignTextProps) {
  const parts = textParts(text)
  if (parts.length > 2 * MAX_STYLED) return visibleText(text)
  return parts.map((part, at) =>
    part.isHidden ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
      <bdi key={at} className={styles.hidden} title="A character that is not seen">
        {nameHidden(part.text)}
      </bdi>
    ) : (
      part.text
    ),
  )
}
