/** Outages by new code, and by services of others. */
import { error, event, failing, info, type KnownOutage, only, shareOf, starts, warn } from './outage-parts.ts'

/** Outages by code that is new. */
export const RELEASE_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'feature flag turns on broken code': {
    culprits: ['prices'],
    says: /null|undefined|NoneType/i,
    outage: {
      behave: only('prices', shareOf(0.4, failing("TypeError: Cannot read properties of undefined (reading 'discount')"))),
      also: () => [{ atMs: -3_000, role: 'prices', level: 'info', line: info('feature flag new-discounts changed from off to on') }],
    },
  },
  'bad release, on half of the pods': {
    culprits: ['payments'],
    says: /LazyInitialization/i,
    outage: {
      behave: only(
        'payments',
        shareOf(
          0.45,
          failing(
            'org.hibernate.LazyInitializationException: failed to lazily initialize a collection of role: com.acme.Payment.items, could not initialize proxy - no Session',
          ),
        ),
      ),
      also: ({ of, pod }) => [
        event(-25_000, {
          kind: 'Deployment',
          pod: of('payments'),
          reason: 'ScalingReplicaSet',
          message: `Scaled up replica set ${pod('payments').slice(0, -6)} to 1`,
          isWarning: false,
        }),
        ...starts('payments', -9_000),
      ],
    },
  },
  'bad release whose errors have level warn': {
    culprits: ['stock'],
    outage: {
      behave: only('stock', shareOf(0.6, { lines: [warn('reservation refused: unknown unit "pcs"')], status: 400 })),
      also: () => starts('stock', -9_000),
    },
  },
}

/** Outages by services of others. */
export const THIRD_PARTY_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'third party is down': {
    culprits: ['payments'],
    says: /503|stripe/i,
    outage: {
      behave: only(
        'payments',
        shareOf(0.9, {
          slowMs: 900,
          ...failing(
            'com.stripe.exception.ApiException: 503 Service Unavailable from https://api.stripe.example/v1/charges',
            'charge failed',
          ),
        }),
      ),
    },
  },
  'third party limits the rate': {
    culprits: ['prices'],
    says: /429|rate/i,
    outage: {
      behave: only(
        'prices',
        shareOf(0.7, {
          lines: [
            error('exchange rates not loaded', 'HTTPError: 429 Client Error: Too Many Requests for url: https://rates.fx.example/latest'),
          ],
          status: 502,
        }),
      ),
    },
  },
}
