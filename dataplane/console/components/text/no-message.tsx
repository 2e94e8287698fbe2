/** Words in the place of a message, or of a pattern, that is empty: a row without words cannot be clicked, nor read aloud. */

import { VisibleText } from './foreign-text.tsx'
import styles from './no-message.module.css'

export const isBlank = (text: string): boolean => text.trim() === ''

/** `fields`: what the record says instead. */
export function NoMessage({ fields = '' }: { readonly fields?: string }) {
  return (
    <i className={styles.none}>
      no message
      {fields !== '' && (
        <>
          , <VisibleText text={fields} />
        </>
      )}
    </i>
  )
}
