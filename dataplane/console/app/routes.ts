/** The pages: where they are, what the navigation calls them, which keys lead there. Each is loaded when it is opened. */
import {
  IconActivityHeartbeat,
  IconAlertHexagon,
  IconChartHistogram,
  IconLayoutDashboard,
  IconListSearch,
  IconSettings,
  IconUpload,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { lazyPart } from '../components/layout/lazy-part.ts'

export interface PageRoute {
  /** In the navigation. */
  readonly href: string
  /** As wouter matches paths; what stands for `*` is the page's. */
  readonly pattern: string
  readonly title: string
  readonly keys: string
  readonly icon: ComponentType<{ size?: number; stroke?: number }>
  readonly Content: ComponentType
}

export const ROUTES: readonly PageRoute[] = [
  {
    href: '/',
    pattern: '/',
    title: 'Overview',
    keys: 'g o',
    icon: IconLayoutDashboard,
    Content: lazyPart(() => import('../pages/overview/page.tsx')),
  },
  {
    href: '/logs',
    pattern: '/logs/*?',
    title: 'Logs',
    keys: 'g l',
    icon: IconListSearch,
    Content: lazyPart(() => import('../pages/logs/page.tsx')),
  },
  {
    href: '/incidents',
    pattern: '/incidents/*?',
    title: 'Incidents',
    keys: 'g i',
    icon: IconAlertHexagon,
    Content: lazyPart(() => import('../pages/incidents/page.tsx')),
  },
  {
    href: '/trends',
    pattern: '/trends',
    title: 'Trends',
    keys: 'g t',
    icon: IconChartHistogram,
    Content: lazyPart(() => import('../pages/trends/page.tsx')),
  },
  {
    href: '/upload',
    pattern: '/upload',
    title: 'Upload',
    keys: 'g u',
    icon: IconUpload,
    Content: lazyPart(() => import('../pages/upload/page.tsx')),
  },
  {
    // Not `/health`, which is the dashboard's own for probes.
    href: '/status',
    pattern: '/status',
    title: 'Health',
    keys: 'g h',
    icon: IconActivityHeartbeat,
    Content: lazyPart(() => import('../pages/health/page.tsx')),
  },
  {
    href: '/settings',
    pattern: '/settings/*?',
    title: 'Settings',
    keys: 'g s',
    icon: IconSettings,
    Content: lazyPart(() => import('../pages/settings/page.tsx')),
  },
]
