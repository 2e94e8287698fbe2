/** The help on the keys of this page; `?` opens it. */
import { Modal } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { isLetterKey, onLetterKeysChange, setLetterKeys, usesLetterKeys } from '../components/keyboard/letter-keys.ts'
import type { Shortcut } from '../components/keyboard/shortcuts.ts'
import { shortcuts } from '../components/keyboard/use-shortcut.ts'
import styles from './shell.module.css'

const EVERYWHERE = 'Everywhere'

export function KeyboardHelp({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard" size="lg">
      {opened && <Keys />}
    </Modal>
  )
}

function Keys() {
  const areLettersUsed = useSyncExternalStore(onLetterKeysChange, usesLetterKeys)
  const all = shortcuts.list()
  return (
    <>
      <label className={styles.letters}>
        <input type="checkbox" checked={areLettersUsed} onChange={event => setLetterKeys(event.currentTarget.checked)} />
        <span>
          Letters are commands
          <small>Turn them off where you speak to the computer, or touch keys by accident</small>
        </span>
      </label>
      <Groups shortcuts={areLettersUsed ? all : all.filter(({ keys }) => !keys.split(' ').some(isLetterKey))} />
    </>
  )
}

function Groups({ shortcuts: all }: { readonly shortcuts: readonly Shortcut[] }) {
  const groups = Object.entries(Object.groupBy(all, ({ group }) => group ?? EVERYWHERE)).sort(
    ([a], [b]) => Number(a === EVERYWHERE) - Number(b === EVERYWHERE),
  )
  return (
    <div className={styles.keys}>
      {groups.map(([group, list = []]) => (
        <section key={group}>
          <h3>{group}</h3>
          <dl>
            {list.map(({ keys, description }) => (
              <div key={keys}>
                <dt>
                  {keys.split(' ').map(key => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{description}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}
