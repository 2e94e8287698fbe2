import styles from './patterns-mode.module.css'

/** A pattern with what differs between its messages set back. */
export function PatternText({ text }: { readonly text: string }) {
  return (
    <code>
      {text.split('<*>').map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
        <span key={at}>
          {at > 0 && <i className={styles.hole}>&lt;*&gt;</i>}
          {part}
        </span>
      ))}
    </code>
  )
}
