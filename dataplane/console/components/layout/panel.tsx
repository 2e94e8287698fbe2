/** The frame of a page, and the cards within it. */
import { type ReactNode, useId } from 'react'
import styles from './panel.module.css'

export interface PageProps {
  readonly title: string
  readonly description?: ReactNode
  /** To the right of the title. */
  readonly actions?: ReactNode
  /** As wide as the window, for tables of records. */
  readonly wide?: boolean
  readonly children: ReactNode
}

export function Page({ title, description, actions, wide = false, children }: PageProps) {
  return (
    <div className={styles.page} data-wide={wide}>
      <header className={styles.pageHead}>
        <div>
          <h1>{title}</h1>
          {description !== undefined && <p>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export interface PanelProps {
  readonly title: string
  /** For links within the page. */
  readonly id?: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  /** Without a margin, for tables. */
  readonly flush?: boolean
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function Panel({ title, id, note, actions, flush = false, className, children }: PanelProps) {
  const titleId = useId()
  return (
    <section id={id} className={className === undefined ? styles.panel : `${styles.panel} ${className}`} aria-labelledby={titleId}>
      <div className={styles.head}>
        <h2 id={titleId}>{title}</h2>
        {note !== undefined && <span className={styles.note}>{note}</span>}
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      <div className={styles.body} data-flush={flush}>
        {children}
      </div>
    </section>
  )
}
