/** The sections of Settings: one line each, loaded when it is opened. Their path stands behind `/settings/`. */
import { type ComponentType, lazy } from 'react'

export interface SettingsSection {
  readonly path: string
  readonly title: string
  /** Renders the section's panels, without a page around them. */
  readonly Section: ComponentType
}

export const SETTINGS_SECTIONS: readonly SettingsSection[] = [
  { path: 'api-keys', title: 'API keys', Section: lazy(() => import('./api-keys/section.tsx')) },
]
