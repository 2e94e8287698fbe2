/** The sections of Settings: one line each, loaded when it is opened. Their path stands behind `/settings/`. */
import type { ComponentType } from 'react'
import { lazyPart } from '../../components/layout/lazy-part.ts'

export interface SettingsSection {
  readonly path: string
  readonly title: string
  /** Renders the section's panels, without a page around them. */
  readonly Section: ComponentType
}

export const SETTINGS_SECTIONS: readonly SettingsSection[] = [
  { path: 'platforms', title: 'Platforms', Section: lazyPart(() => import('./platforms/section.tsx')) },
  { path: 'routing', title: 'Routing', Section: lazyPart(() => import('./routing/section.tsx')) },
  { path: 'thresholds', title: 'Thresholds', Section: lazyPart(() => import('./thresholds/section.tsx')) },
  { path: 'silences', title: 'Silences', Section: lazyPart(() => import('./silences/section.tsx')) },
  { path: 'escalation', title: 'Escalation', Section: lazyPart(() => import('./escalation/section.tsx')) },
  { path: 'model', title: 'Language model', Section: lazyPart(() => import('./model/section.tsx')) },
  { path: 'api-keys', title: 'API keys', Section: lazyPart(() => import('./api-keys/section.tsx')) },
]
