/** Sends three log records as an application does that knows nothing but the OpenTelemetry SDK: all settings come from the environment. */
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { detectResources, envDetector } from '@opentelemetry/resources'
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'

const provider = new LoggerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  processors: [new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter() })],
})
const logger = provider.getLogger('shop')
for (const order of [1, 2, 3]) logger.emit({ severityNumber: SeverityNumber.INFO, severityText: 'INFO', body: `order ${order} paid` })
await provider.shutdown()
