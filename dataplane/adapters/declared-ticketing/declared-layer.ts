/** Makes a layer from the declared files, or lists every problem. */
import { DECLARED_TICKETING, type DeclaredTicketing } from '../../contract/declared-ticketing.ts'
import { DECLARED_TICKETING_FILE, LLM_SECRET_FILE, platformSecretFile } from '../../contract/declared-ticketing-files.ts'
import {
  FIELD_PAIRS,
  PLATFORM_NAMES,
  PLATFORMS,
  type PlatformFields,
  type PlatformName,
  SEVERITIES,
  type Severity,
} from '../../contract/platforms.ts'
import { schemaProblems } from '../../contract/schema-problems.ts'
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

/** The files in which fields of the declared platforms and of the model may lie. */
export function secretFilesOf({ platforms, llm }: DeclaredTicketing): readonly string[] {
  const ofPlatforms = Object.keys(platforms).flatMap(name =>
    isPlatform(name) ? fieldsOf(PLATFORMS[name]).map(field => platformSecretFile(name, field)) : [],
  )
  return llm === undefined ? ofPlatforms : [...ofPlatforms, LLM_SECRET_FILE]
}

export function buildLayer(declared: DeclaredTicketing, files: SecretFiles): Checked<DeclaredLayer> {
  const problems = [...anomalyProblems(declared), ...llmProblems(declared)].map(inFile)
  const platforms: Partial<Record<PlatformName, DeclaredPlatform>> = {}
  for (const [name, { owner, settings }] of Object.entries(declared.platforms)) {
    if (!isPlatform(name)) {
      problems.push(inFile(`platforms.${name}: expected one of ${PLATFORM_NAMES.join(', ')}, seen ${JSON.stringify(name)}`))
      continue
    }
    problems.push(...settingProblems(name, settings).map(inFile))
    const fields = { ...settings, ...fieldsInFiles(name, files) }
    problems.push(...missingFields(name, fields), ...missingPartner(name, fields))
    platforms[name] = { owner, fields }
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

function isPlatform(name: string): name is PlatformName {
  return Object.hasOwn(PLATFORMS, name)
}

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

function settingProblems(platform: PlatformName, settings: Readonly<Record<string, unknown>>): readonly string[] {
  const secret = secretsOf(PLATFORMS[platform])
  return Object.keys(settings).flatMap(field => {
    const name = `platforms.${platform}.settings.${field}`
    if (secret.includes(field))
      return [`${name}: expected in the file ${platformSecretFile(platform, field)}, since it is a secret, seen here`]
    return fieldsOf(PLATFORMS[platform]).includes(field) ? [] : [`${name}: unknown field`]
  })
}

function fieldsInFiles(platform: PlatformName, files: SecretFiles): Readonly<Record<string, string>> {
  const found = fieldsOf(PLATFORMS[platform]).map(field => [field, files.get(platformSecretFile(platform, field))] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Never shows a value. */
function missingFields(platform: PlatformName, fields: Readonly<Record<string, string | number>>): readonly string[] {
  const { secret, required }: PlatformFields = PLATFORMS[platform]
  const isMissing = (field: string) => fields[field] === undefined || fields[field] === ''
  const seen = (field: string) => (fields[field] === undefined ? 'seen none' : 'seen it empty')
  return [
    ...secret
      .filter(isMissing)
      .map(field => `${platformSecretFile(platform, field)}: expected a file that holds the value, ${seen(field)}`),
    ...required
      .filter(isMissing)
      .map(field =>
        inFile(
          `platforms.${platform}.settings.${field}: expected a value here or in ${platformSecretFile(platform, field)}, ${seen(field)}`,
        ),
      ),
  ]
}

function missingPartner(platform: PlatformName, fields: DeclaredPlatform['fields']): readonly string[] {
  const [one, other] = FIELD_PAIRS[platform] ?? []
  if (one === undefined || other === undefined || Object.hasOwn(fields, one) === Object.hasOwn(fields, other)) return []
  return [`platforms.${platform}: expected both of ${one} and ${other} or neither, seen ${Object.hasOwn(fields, one) ? one : other} alone`]
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
