/** Views by name, one click away; some to begin with; and the link to this one. */
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBookmark, IconLink, IconTrash } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { copyText } from '../../../components/copy/use-copy.ts'
import { ForeignText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { useLink } from '../../../url-state/links.ts'
import { useSearch } from '../../../url-state/use-search.ts'
import { deleteView, isView, MAX_VIEW_NAME, type Saved, saveView, viewOf } from './saved-views.ts'
import { noteSaved, storage, useViews } from './use-views.ts'
import styles from './views-menu.module.css'

const PAGE = '/logs'

/** For who has saved none yet, or looks for a question to ask. */
const TO_BEGIN_WITH: readonly { readonly name: string; readonly parameters: Readonly<Record<string, string>> }[] = [
  { name: 'Errors alone', parameters: { q: 'level:(ERROR OR FATAL)' } },
  { name: 'Errors by what they say', parameters: { q: 'level:(ERROR OR FATAL)', mode: 'patterns' } },
  { name: 'What is new or grew', parameters: { mode: 'patterns', patterns: 'change' } },
  { name: 'As it comes in', parameters: { mode: 'live' } },
]

/** Saved views, one click each; nothing where there are none. */
export function ViewChips() {
  const views = useViews()
  const search = useSearch()
  if (views.length === 0) return null
  return (
    <nav className={styles.chips} aria-label="Saved views">
      {views.map(view => (
        <Link
          key={view.name}
          href={PAGE + view.search}
          title={visibleText(view.name)}
          aria-current={isView(view.search, search) ? 'true' : undefined}
        >
          <ForeignText text={view.name} />
        </Link>
      ))}
    </nav>
  )
}

export function ViewsMenu() {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconBookmark size={15} aria-hidden />} onClick={() => setOpen(open => !open)}>
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Saved views">{isOpen && <Views onClose={() => setOpen(false)} />}</Popover.Dropdown>
    </Popover>
  )
}

function Views({ onClose }: { readonly onClose: () => void }) {
  const views = useViews()
  const link = useLink()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const take = (saved: Saved): boolean => {
    noteSaved(saved)
    setProblem(saved.ok ? undefined : saved.problem)
    return saved.ok
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (take(saveView(storage, { name, search: viewOf(window.location.search) }))) setName('')
  }
  return (
    <div className={styles.views}>
      <form onSubmit={save}>
        <TextInput
          label="Save this view as"
          placeholder="Errors of checkout"
          maxLength={MAX_VIEW_NAME}
          value={name}
          error={problem}
          onChange={event => setName(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" variant="default">
          Save
        </Button>
      </form>
      {views.length === 0 ? (
        <p>Search, filters, time, columns and mode are saved, in this browser. Saved views stand above the search.</p>
      ) : (
        <ul>
          {views.map(view => (
            <li key={view.name}>
              <Link href={PAGE + view.search} onClick={onClose}>
                <ForeignText text={view.name} />
              </Link>
              <ActionIcon size="sm" aria-label={visibleText(`Delete ${view.name}`)} onClick={() => take(deleteView(storage, view.name))}>
                <IconTrash size={14} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <h3>To begin with</h3>
      <ul>
        {TO_BEGIN_WITH.map(({ name: title, parameters }) => (
          <li key={title}>
            <Link href={link(PAGE, parameters)} onClick={onClose}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The link names the very time that is seen, so that others see the same later. */
export function ShareButton({ link }: { readonly link: () => string }) {
  const share = async () => {
    const address = link()
    try {
      await copyText(address)
      notifications.show({ title: 'Link copied', message: 'It shows this search at this very time.' })
    } catch {
      notifications.show({ title: 'The browser does not let the link be copied', message: address, autoClose: false })
    }
  }
  return (
    <Button variant="default" leftSection={<IconLink size={15} aria-hidden />} onClick={() => void share()}>
      Share
    </Button>
  )
}
