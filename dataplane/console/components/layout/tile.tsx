/** A figure with its title and what it means, in a row of such. */
import type { ReactNode } from 'react'
import styles from './tile.module.css'

export function Tiles({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.tiles}>{children}</dl>
}

export interface TileProps {
  readonly title: string
  readonly value: string
  readonly tone?: 'bad' | undefined
  readonly children: ReactNode
}

export function Tile({ title, value, tone, children }: TileProps) {
  return (
    <div className={styles.tile} data-tone={tone}>
      <dt>{title}</dt>
      <dd>
        <span>{value}</span>
        <small>{children}</small>
      </dd>
    </div>
  )
}
