/** The frame around every page: navigation, theme, tenant, keyboard. */
import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconKeyboard, IconMoon, IconSun } from '@tabler/icons-react'
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { onLetterKeysChange, usesLetterKeys } from '../components/keyboard/letter-keys.ts'
import { leaveControl, useShortcut, useShortcutListener } from '../components/keyboard/use-shortcut.ts'
import { Notices } from '../components/states/stale.tsx'
import { Progress } from '../components/states/states.tsx'
import { BASE_PATH } from '../url-state/base-path.ts'
import { useLink } from '../url-state/links.ts'
import { ClockChoice } from './clock-choice.tsx'
import { KeyboardHelp } from './keyboard-help.tsx'
import { LogOut } from './log-out.tsx'
import { type PageRoute, ROUTES } from './routes.ts'
import styles from './shell.module.css'
import { TenantChoice } from './tenant-choice.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

export function Shell({ children }: { readonly children: ReactNode }) {
  const [helps, setHelps] = useState(false)
  const link = useLink()
  useShortcutListener()
  const areLettersUsed = useSyncExternalStore(onLetterKeysChange, usesLetterKeys)
  useKeptFocus()
  useShortcut('?', 'Show the keys of this page', () => setHelps(true))
  return (
    <div className={styles.shell} data-letter-keys={areLettersUsed}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <aside className={styles.side}>
        <Link href={link('/')} className={styles.brand} aria-label="logpipeline, overview">
          <img src={`${BASE_PATH}/icon.svg`} alt="" width={26} height={26} />
          <span>logpipeline</span>
        </Link>
        <nav className={styles.nav} aria-label="Pages">
          {ROUTES.map(route => (
            <NavLink key={route.href} route={route} />
          ))}
        </nav>
        <div className={styles.foot}>
          <div className={styles.tenant}>
            <TenantChoice />
          </div>
          <ClockChoice />
          <div className={styles.tools}>
            <ThemeSwitch />
            <Tooltip label="Keyboard (?)">
              <ActionIcon aria-label="Keyboard" size="md" onClick={() => setHelps(true)}>
                <IconKeyboard size={17} />
              </ActionIcon>
            </Tooltip>
            <LogOut />
          </div>
        </div>
      </aside>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Progress />
        <Notices />
        {children}
      </main>
      <KeyboardHelp opened={helps} onClose={() => setHelps(false)} />
    </div>
  )
}

function NavLink({ route: { href, pattern, title, keys, icon: Icon } }: { readonly route: PageRoute }) {
  const link = useLink()
  const [, navigate] = useLocation()
  const [isHere] = useRoute(pattern)
  const to = link(href)
  useShortcut(keys, `Go to ${title}`, () => {
    leaveControl()
    navigate(to)
  })
  return (
    <Link href={to} className={styles.link} aria-current={isHere ? 'page' : undefined} title={title}>
      <Icon size={18} stroke={1.7} />
      <span>{title}</span>
    </Link>
  )
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const next = useComputedColorScheme() === 'dark' ? 'light' : 'dark'
  useShortcut('g d', 'Light or dark', () => setColorScheme(next))
  return (
    <Tooltip label={`Make it ${next}`}>
      <ActionIcon aria-label={`Make it ${next}`} size="md" onClick={() => setColorScheme(next)}>
        {next === 'light' ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
    </Tooltip>
  )
}
