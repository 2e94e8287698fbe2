/** The sections of Settings: one line each, loaded when it is opened. Their path stands behind `/settings/`. */
import { type ComponentType, lazy } from 'react'

export interface SettingsSection {
  readonly path: string
  readonly title: string
  /** Renders the section's panels, without a page around them. */
  readonly Section: ComponentType
}

export const SETTINGS_SECTIONS: readonly SettingsSection[] = [
  { path: 'platforms', title: 'Platforms', Section: lazy(() => import('./platforms/section.tsx')) },
  { path: 'routing', title: 'Routing', Section: lazy(() => import('./routing/section.tsx')) },
  { path: 'thresholds', title: 'Thresholds', Section: lazy(() => import('./thresholds/section.tsx')) },
  { path: 'silences', title: 'Silences', Section: lazy(() => import('./silences/section.tsx')) },
  { path: 'escalation', title: 'Escalation', Section: lazy(() => import('./escalation/section.tsx')) },
  { path: 'model', title: 'Language model', Section: lazy(() => import('./model/section.tsx')) },
  { path: 'api-keys', title: 'API keys', Section: lazy(() => import('./api-keys/section.tsx')) },
]
