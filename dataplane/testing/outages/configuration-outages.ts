/** Outages by what was set wrong: configuration, certificates, names, clocks, settings, passwords. */
import { error, every, failing, info, type KnownOutage, klog, only, starts, warn } from './outage-parts.ts'

/** Outages by wrong configuration, certificates and names. */
export const CONFIGURATION_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'wrong configuration: answers 401 to all callers': {
    culprits: ['stock'],
    says: /401|Unauthorized|token|audience/i,
    outage: {
      behave: only('stock', () => ({
        lines: [warn('rejected request: token audience "internal" does not match "internal-v2"')],
        status: 401,
      })),
      also: () => [
        { atMs: -4_000, role: 'stock', level: 'info', line: info('configuration reloaded from /etc/config/app.yaml, 3 keys changed') },
      ],
    },
  },
  'wrong configuration: answers 404 without a word': {
    culprits: ['prices'],
    outage: {
      behave: only('prices', () => ({ lines: [info('no route for POST /internal/prices')], status: 404 })),
      also: () => [{ atMs: -2_000, role: 'prices', level: 'info', line: info('configuration reloaded, base path is now /v2') }],
    },
  },
  'wrong configuration: a caller asks for a host that is not there': {
    culprits: ['payments', 'users'],
    outage: {
      behave: (role, { caller }) => (role === 'users' && caller === 'payments' ? { unreachable: 'unknown name' } : undefined),
      also: () => starts('payments', -6_000),
    },
  },
  'certificate of a service expired': {
    culprits: ['payments'],
    says: /certificate|NotTimeValid/i,
    outage: {
      behave: only('payments', () => ({ unreachable: 'certificate' })),
      also: () =>
        every(2_000, 7_000, atMs => ({
          atMs,
          role: 'payments',
          level: 'error',
          line: error('TLS handshake error from 10.1.4.2:38114: remote error: tls: expired certificate'),
        })),
    },
  },
  'certificate of a service expired, which says nothing': {
    culprits: ['users'],
    says: /certificate|NotTimeValid/i,
    outage: { behave: only('users', () => ({ unreachable: 'certificate' })) },
  },
  'DNS does not answer': {
    culprits: ['dns'],
    outage: {
      behave: (role, { share }) =>
        ['stock', 'prices', 'users'].includes(role) && share < 0.6 ? { unreachable: 'unknown name' } : undefined,
      also: ({ of }) =>
        every(1_000, 4_000, atMs => ({
          atMs,
          role: 'dns',
          level: 'none',
          line: `[ERROR] plugin/errors: 2 ${of('stock')}.prod.svc.cluster.local. A: read udp 10.1.0.5:41233->10.0.0.2:53: i/o timeout`,
        })),
    },
  },
  'DNS does not answer, and says nothing': {
    culprits: ['orders', 'payments', 'dns'],
    says: /resolv|name|getaddrinfo|lookup|temporar/i,
    outage: {
      behave: (role, { share }) => (['stock', 'users'].includes(role) && share < 0.7 ? { unreachable: 'unknown name' } : undefined),
    },
  },
}

/** Outages by a clock that is wrong. */
export const CLOCK_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'clock of a service is wrong': {
    culprits: ['users'],
    says: /clock|issued|before|iat|nbf/i,
    outage: {
      behave: only('users', () => ({
        lines: [warn('token refused: JWT used before issued, iat 2026-03-03T04:01:40Z is in the future')],
        status: 401,
      })),
      also: () => [{ atMs: -20_000, role: 'kernel', level: 'none', line: 'chronyd[712]: System clock wrong by 97.311823 seconds' }],
    },
  },
  'signatures are refused by a third party since a clock is wrong': {
    culprits: ['payments'],
    says: /RequestTimeTooSkewed|time|skew/i,
    outage: {
      behave: only('payments', () =>
        failing(
          'An error occurred (RequestTimeTooSkewed) when calling the PutObject operation: The difference between the request time and the current time is too large.',
          'receipt could not be stored',
        ),
      ),
    },
  },
}

/** Outages by a setting that is not there. */
export const SETTING_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'restart loop for want of a setting': {
    culprits: ['stock'],
    says: /PAYMENTS_URL|missing|environment|required|Back-off/i,
    outage: {
      behave: only('stock', () => ({ unreachable: 'refused' })),
      also: ({ pod }) => [
        ...every(
          1_000,
          25_000,
          atMs =>
            [
              ...starts('stock', atMs).slice(0, 1),
              {
                atMs: atMs + 3_000,
                role: 'stock',
                level: 'error',
                line: error('application failed to start', 'Error: missing required environment variable STOCK_DB_URL'),
              },
            ] as const,
        ),
        ...every(8_000, 25_000, atMs =>
          klog(
            atMs,
            'E',
            `pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"app\\" with CrashLoopBackOff: \\"back-off 40s restarting failed container=app pod=${pod('stock')}_prod(6a1f)\\"" pod="prod/${pod('stock')}"`,
          ),
        ),
      ],
    },
  },
}

/** Outages by a password that was changed at one end alone. */
export const PASSWORD_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'password of one service was rotated': {
    culprits: ['stock', 'database'],
    says: /password/i,
    outage: {
      behave: (role, { caller }) =>
        role === 'database' && caller === 'stock'
          ? {
              status: 500,
              tells: 'password authentication failed for user "stock"',
              lines: [
                { level: 'error', text: '2026-03-03 04:00:04.118 UTC [812] FATAL:  password authentication failed for user "stock"' },
              ],
            }
          : undefined,
    },
  },
}
