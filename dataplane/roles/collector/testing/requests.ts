/** Small requests in both encodings. */
import { encodeMessage } from '../../../otlp/testing/logs-proto.ts'

export interface RequestConfig {
  readonly service?: string
  readonly tenant?: string
  readonly messages: readonly string[]
}

export function buildPayload({ service, tenant, messages }: RequestConfig): object {
  const attribute = (key: string, value: string | undefined) => (value === undefined ? [] : [{ key, value: { stringValue: value } }])
  return {
    resourceLogs: [
      {
        resource: { attributes: [...attribute('service.name', service), ...attribute('tenant_id', tenant)] },
        scopeLogs: [
          {
            logRecords: messages.map(message => ({
              timeUnixNano: '1767225600000000001',
              severityText: 'INFO',
              body: { stringValue: message },
            })),
          },
        ],
      },
    ],
  }
}

export const buildJson = (config: RequestConfig): string => JSON.stringify(buildPayload(config))
export const buildProtobuf = (config: RequestConfig): Buffer => encodeMessage('ExportLogsServiceRequest', buildPayload(config))
