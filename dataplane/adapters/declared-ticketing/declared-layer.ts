/** Makes a layer from the declared files, or lists every problem. */
import { DECLARED_TICKETING, type DeclaredTicketing } from '../../contract/declared-ticketing.ts'
import { DECLARED_TICKETING_FILE, LLM_SECRET_FILE, targetSecretFile } from '../../contract/declared-ticketing-files.ts'
import { FIELD_PAIRS, PLATFORMS, type PlatformFields, SEVERITIES, type Severity } from '../../contract/platforms.ts'
import { schemaProblems } from '../../contract/schema-problems.ts'
import { isTargetId, parseTargetId, TARGET_ID_RULE, type TargetId } from '../../contract/target-id.ts'
import { LOOKBACK_RULE, parseLookback } from '../../domain/incidents/anomaly-config.ts'
import type { DeclaredLayer, DeclaredPlatform, DeclaredRoute } from '../../ports/declared-ticketing.ts'

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly string[] }

/** The text of the file beside the configuration; undefined: there is none. */
export type SecretFiles = ReadonlyMap<string, string | undefined>

const inFile = (problem: string) => `${DECLARED_TICKETING_FILE}: ${problem}`

/** The main file by its schema alone. */
export function parseDeclaration(text: string): Checked<DeclaredTicketing> {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    return { ok: false, problems: [inFile(`expected JSON, seen something else: ${(error as Error).message}`)] }
  }
  const parsed = DECLARED_TICKETING.safeParse(content, { reportInput: true })
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, problems: schemaProblems(parsed.error, 'content').map(inFile) }
}

/** The files in which fields of the declared targets and of the model may lie. */
export function secretFilesOf({ platforms, llm }: DeclaredTicketing): readonly string[] {
  const ofTargets = Object.keys(platforms).flatMap(id =>
    isTargetId(id) ? fieldsOf(platformOf(id)).map(field => targetSecretFile(id, field)) : [],
  )
  return llm === undefined ? ofTargets : [...ofTargets, LLM_SECRET_FILE]
}

export function buildLayer(declared: DeclaredTicketing, files: SecretFiles): Checked<DeclaredLayer> {
  const problems = [...anomalyProblems(declared), ...llmProblems(declared)].map(inFile)
  const platforms: Partial<Record<TargetId, DeclaredPlatform>> = {}
  for (const [id, { owner, settings }] of Object.entries(declared.platforms)) {
    if (!isTargetId(id)) {
      problems.push(inFile(`platforms.${id}: expected ${TARGET_ID_RULE}, seen ${JSON.stringify(id)}`))
      continue
    }
    problems.push(...settingProblems(id, settings).map(inFile))
    const fields = { ...settings, ...fieldsInFiles(id, files) }
    problems.push(...missingFields(id, fields), ...missingPartner(id, fields))
    platforms[id] = { owner, fields }
  }
  problems.push(...declared.routes.flatMap((route, i) => routeProblems(route, `routes.${i}`, platforms)).map(inFile))
  if (problems.length > 0) return { ok: false, problems }
  const apiKey = files.get(LLM_SECRET_FILE)
  const { llm } = declared
  return {
    ok: true,
    value: {
      anomaly: declared.anomaly ?? {},
      ...(llm === undefined ? {} : { llm: apiKey === undefined ? llm : { ...llm, apiKey } }),
      platforms,
      // `routeProblems` has found no problem with the routes.
      routes: declared.routes as readonly DeclaredRoute[],
    },
  }
}

const platformOf = (id: TargetId): PlatformFields => PLATFORMS[parseTargetId(id)!.platform]

const secretsOf = ({ secret, optionalSecret }: PlatformFields): readonly string[] => [...secret, ...optionalSecret]
const fieldsOf = (fields: PlatformFields): readonly string[] => [...secretsOf(fields), ...fields.required, ...fields.optional]

function anomalyProblems({ anomaly: { lookbackWindow } = {} }: DeclaredTicketing): readonly string[] {
  if (lookbackWindow === undefined || parseLookback(lookbackWindow) !== undefined) return []
  return [`anomaly.lookbackWindow: expected ${LOOKBACK_RULE}, seen ${JSON.stringify(lookbackWindow)}`]
}

function llmProblems({ llm }: DeclaredTicketing): readonly string[] {
  if (llm === undefined || llm.provider === 'none' || llm.model) return []
  return [`llm.model: expected the name of a model, since provider is ${llm.provider}, seen nothing`]
}

function settingProblems(id: TargetId, settings: Readonly<Record<string, unknown>>): readonly string[] {
  const secret = secretsOf(platformOf(id))
  const known = fieldsOf(platformOf(id))
  return Object.keys(settings).flatMap(field => {
    const name = `platforms.${id}.settings.${field}`
    if (secret.includes(field)) return [`${name}: expected in the file ${targetSecretFile(id, field)}, since it is a secret, seen here`]
    return known.includes(field) ? [] : [`${name}: unknown field`]
  })
}

function fieldsInFiles(id: TargetId, files: SecretFiles): Readonly<Record<string, string>> {
  const found = fieldsOf(platformOf(id)).map(field => [field, files.get(targetSecretFile(id, field))] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Never shows a value. */
function missingFields(id: TargetId, fields: Readonly<Record<string, string | number>>): readonly string[] {
  const { secret, required } = platformOf(id)
  const isMissing = (field: string) => fields[field] === undefined || fields[field] === ''
  const seen = (field: string) => (fields[field] === undefined ? 'seen none' : 'seen it empty')
  return [
    ...secret.filter(isMissing).map(field => `${targetSecretFile(id, field)}: expected a file that holds the value, ${seen(field)}`),
    ...required
      .filter(isMissing)
      .map(field =>
        inFile(`platforms.${id}.settings.${field}: expected a value here or in ${targetSecretFile(id, field)}, ${seen(field)}`),
      ),
  ]
}

function missingPartner(id: TargetId, fields: DeclaredPlatform['fields']): readonly string[] {
  const [one, other] = FIELD_PAIRS[parseTargetId(id)!.platform] ?? []
  if (one === undefined || other === undefined || Object.hasOwn(fields, one) === Object.hasOwn(fields, other)) return []
  return [`platforms.${id}: expected both of ${one} and ${other} or neither, seen ${Object.hasOwn(fields, one) ? one : other} alone`]
}

function routeProblems(
  route: DeclaredTicketing['routes'][number],
  where: string,
  platforms: DeclaredLayer['platforms'],
): readonly string[] {
  const unknown = route.severities.flatMap((severity, i) =>
    SEVERITIES.includes(severity as Severity)
      ? []
      : [`${where}.severities.${i}: expected one of ${SEVERITIES.join(', ')}, seen ${JSON.stringify(severity)}`],
  )
  if (Object.hasOwn(platforms, route.platform)) return unknown
  const known = Object.keys(platforms).join(', ') || 'none'
  return [`${where}.platform: expected one of the declared platforms (${known}), seen ${JSON.stringify(route.platform)}`, ...unknown]
}
