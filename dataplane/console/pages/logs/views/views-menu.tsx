/** Views by name, one click away; and the link to this one. */
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBookmark, IconLink, IconTrash } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { copyText } from '../../../components/use-copy.ts'
import { deleteView, MAX_VIEW_NAME, readViews, type Saved, saveView } from './saved-views.ts'
import styles from './views-menu.module.css'

/** Any access may throw where the browser keeps nothing. */
const storage = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
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
  const [views, setViews] = useState(() => readViews(storage))
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const take = (saved: Saved): boolean => {
    if (saved.ok) setViews(saved.views)
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
        <p>Search, filters, time, columns and mode are saved, in this browser.</p>
      ) : (
        <ul>
          {views.map(view => (
            <li key={view.name}>
              <button
                type="button"
                onClick={() => {
                  navigate(`${window.location.pathname}${view.search}`)
                  onClose()
                }}
              >
                {view.name}
              </button>
              <ActionIcon size="sm" aria-label={`Delete ${view.name}`} onClick={() => take(deleteView(storage, view.name))}>
                <IconTrash size={14} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A view holds no open record. */
function viewOf(search: string): string {
  const parameters = new URLSearchParams(search)
  parameters.delete('record')
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** The link names the very time that is seen, so that others see the same later. */
export function ShareButton({ window: { fromMs, toMs } }: { readonly window: { readonly fromMs: number; readonly toMs: number } }) {
  const share = async () => {
    const address = new URL(window.location.href)
    address.searchParams.delete('range')
    address.searchParams.set('from', new Date(fromMs).toISOString())
    address.searchParams.set('to', new Date(toMs).toISOString())
    try {
      await copyText(address.href)
      notifications.show({ title: 'Link copied', message: 'It shows this search at this very time.' })
    } catch {
      notifications.show({ title: 'The browser does not let the link be copied', message: address.href, autoClose: false })
    }
  }
  return (
    <Button variant="default" leftSection={<IconLink size={15} aria-hidden />} onClick={() => void share()}>
      Share
    </Button>
  )
}
