/** Text of others, such as a message or the name of a service: nothing in it is hidden, and it turns nothing round that stands beside it. */

import styles from './foreign-text.module.css'
import { nameHidden, textParts } from './visible-text.ts'

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

/** Parts of a text in which hidden characters have their names; behind them `\ufffd` stands for those in a row: more is no text, and slow to draw. */
const MAX_PARTS = 100

/** The text of an element of its own, which is `dir="auto"`: a `bdi` would not count for its direction. */
export function VisibleText({ text }: ForeignTextProps) {
  const parts = textParts(text)
  const named = parts.slice(0, MAX_PARTS).map((part, at) =>
    part.isHidden ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
      <bdi key={at} className={styles.hidden} title="A character that is not seen">
        {nameHidden(part.text)}
      </bdi>
    ) : (
      part.text
    ),
  )
  const rest = parts.slice(MAX_PARTS).map(({ text, isHidden }, at, all) => (!isHidden ? text : all[at - 1]?.isHidden ? '' : '\ufffd'))
  return rest.length === 0 ? named : [...named, rest.join('')]
}
