/** An exporter in a pod of its own, which sends OTLP records to a Service of the cluster. */
import { type Kubectl, until } from '../../../dataplane/testing/cluster/kubectl.ts'
import { PRODUCT_IMAGE } from '../../testing/product-image.ts'

export interface LogLine {
  readonly severityText: string
  readonly body: string
}

/** Resolves once all lines are acknowledged. `endpoint`: URL of the collector as pods reach it. */
export async function exportFromPod(
  kubectl: Kubectl,
  {
    name,
    namespace,
    endpoint,
    service,
  }: { readonly name: string; readonly namespace: string; readonly endpoint: string; readonly service: string },
  lines: readonly LogLine[],
): Promise<void> {
  const metadata = { name, namespace }
  await kubectl.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'logs.ndjson': otlpLine(service, lines) } },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: {
        backoffLimit: 5,
        template: {
          spec: {
            restartPolicy: 'OnFailure',
            containers: [
              {
                name: 'exporter',
                image: PRODUCT_IMAGE,
                imagePullPolicy: 'Never',
                args: ['replay', '/logs/logs.ndjson', '--endpoint', endpoint],
                volumeMounts: [{ name: 'logs', mountPath: '/logs' }],
              },
            ],
            volumes: [{ name: 'logs', configMap: { name } }],
          },
        },
      },
    },
  )
  await until(
    `the job ${name} is done`,
    async () => {
      const job = await kubectl.get('job', name, namespace)
      return job.status.succeeded === 1
    },
    90_000,
  ).catch(async error => {
    throw new Error(`${(error as Error).message}\n${await kubectl.run(['logs', '--namespace', namespace, `job/${name}`])}`)
  })
}

function otlpLine(service: string, lines: readonly LogLine[]): string {
  const nowNs = BigInt(Date.now()) * 1_000_000n
  const logRecords = lines.map(({ severityText, body }, index) => ({
    ...{ timeUnixNano: String(nowNs + BigInt(index)), severityText, body: { stringValue: body } },
  }))
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  return `${JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })}\n`
}

/** Enough for an incident of its service. */
export const TROUBLE: readonly LogLine[] = [
  { severityText: 'ERROR', body: 'payment 4711: connection refused' },
  { severityText: 'ERROR', body: 'payment 4712: read timed out' },
  { severityText: 'FATAL', body: 'OutOfMemory while paying' },
]
