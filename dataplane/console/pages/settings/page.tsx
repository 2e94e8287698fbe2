/** Settings: a section for each path below `/settings`. */
import { Suspense, useEffect, useRef } from 'react'
import { Link, Redirect, useParams } from 'wouter'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { PageBoundary } from '../../components/layout/page-boundary.tsx'
import { Page } from '../../components/layout/panel.tsx'
import { Pending } from '../../components/states/states.tsx'
import { useLink } from '../../url-state/links.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { SETTINGS_SECTIONS } from './sections.ts'
import styles from './settings.module.css'

export default function SettingsPage() {
  const link = useLink()
  const { '*': path = '' } = useParams<{ '*': string }>()
  const section = SETTINGS_SECTIONS.find(each => each.path === path)
  const nav = useRef<HTMLElement>(null)
  // Where it is narrow the sections are a row that scrolls.
  useEffect(() => {
    if (section !== undefined) nav.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section])
  if (section === undefined) return <Redirect to={link(`/settings/${SETTINGS_SECTIONS[0]!.path}`)} replace />
  const { Section } = section
  return (
    <Page title="Settings" description={<WhoseSettings />}>
      <div className={styles.layout}>
        <nav ref={nav} className={styles.nav} aria-label="Sections of the settings">
          {SETTINGS_SECTIONS.map(each => (
            <Link key={each.path} href={link(`/settings/${each.path}`)} aria-current={each === section ? 'page' : undefined}>
              {each.title}
            </Link>
          ))}
        </nav>
        <div className={styles.content}>
          <PageBoundary key={section.path}>
            <Suspense fallback={<Pending />}>
              <Section />
            </Suspense>
          </PageBoundary>
        </div>
      </div>
    </Page>
  )
}

/** Where all tenants are looked at, settings are those of one all the same. */
function WhoseSettings() {
  const looksAt = parseTenant(useSearch())
  return looksAt === undefined ? `Of tenant ${DEFAULT_TENANT}. Other tenants have their own.` : `Of tenant ${looksAt}.`
}
