// completion/complete: values for arguments of prompts and for variables of resource templates. Nothing of one account is shown to
// another: what is not public is asked of a tool, or read off the capability that is on the connection.
import { ERRORS } from '../../core/errors.ts'
import type { Caller } from '../../core/caller.ts'
import { isObject } from '../../lib/json.ts'
import type { Link } from './link.ts'
import type { ToolEntry } from './lists.ts'
import type { OfferCore } from './offer-core.ts'
import { callOwn } from './own-call.ts'
import { invalidParams } from './refusal.ts'
import { TEMPLATES } from './resources.ts'
import type { PublishedSkill } from './skills.ts'
import type { JsonObject } from './wire.ts'

/** As many as one answer may hold (2025-11-25 and 2026-07-28, completion). */
const MAX_VALUES = 100

export interface Completing {
  readonly link: Link
  /** Whoever the tokens of the connection stand for; undefined where they are no good. */
  readonly caller: Caller | undefined
  readonly skills: readonly PublishedSkill[]
  /** The tools that the connection's list holds. */
  readonly shown: readonly ToolEntry[]
}

type Source = (core: OfferCore, completing: Completing) => readonly string[] | Promise<readonly string[]>

const capabilityIds: Source = ({ parts }) => idsOf(parts.documents.catalogue()['tools'])

/** By the name of the argument, whatever prompt asks for it. */
const ARGUMENTS: Readonly<Record<string, Source>> = {
  capability: capabilityIds,
  provider: ({ parts }) => idsOf(parts.documents.egressProviders()['providers']),
  host: (_, { caller }) => (caller?.kind === 'agent' ? caller.capability.scope.hosts : []),
}

/** By template and variable. */
const VARIABLES: Readonly<
  Record<(typeof TEMPLATES)[number]['uriTemplate'], Readonly<Record<string, Source>>>
> = {
  'gateway://tools/{name}': { name: (_, { shown }) => shown.map(({ name }) => name) },
  'gateway://capabilities/{id}': { id: capabilityIds },
  'gateway://problems/{code}': { code: () => Object.keys(ERRORS) },
  'gateway://receipts/{receipt_id}': { receipt_id: ownReceipts },
  'skill://{name}/SKILL.md': { name: (_, { skills }) => skills.map(({ name }) => name) },
}

/** @throws {RpcRefusal} invalid params: no such prompt or template, or no such argument of it */
export async function complete(
  core: OfferCore,
  params: JsonObject,
  completing: Completing,
): Promise<JsonObject> {
  const { ref, argument } = params
  if (!isObject(ref) || !isObject(argument))
    throw invalidParams('completion/complete takes `ref` and `argument`.')
  const { name, value } = argument
  if (typeof name !== 'string' || typeof value !== 'string')
    throw invalidParams('`argument` has a name and a value, both texts.')
  const source = sourceOf(ref, name, completing.skills)
  const found = source ? matching(await source(core, completing), value) : []
  const values = found.slice(0, MAX_VALUES)
  return { completion: { values, total: found.length, hasMore: found.length > values.length } }
}

/** Undefined for an argument that anything may be said for. */
function sourceOf(ref: JsonObject, argument: string, skills: readonly PublishedSkill[]): Source | undefined {
  if (ref['type'] === 'ref/prompt') {
    const skill = skills.find(({ name }) => name === ref['name'])
    if (!skill) throw invalidParams('There is no such prompt. prompts/list says what there is.')
    if (!skill.arguments.some(({ name }) => name === argument))
      throw invalidParams(`The prompt ${skill.name} has no such argument.`)
    return Object.hasOwn(ARGUMENTS, argument) ? ARGUMENTS[argument] : undefined
  }
  const template = TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref['uri'])
  if (ref['type'] !== 'ref/resource' || !template)
    throw invalidParams('There is no such template. resources/templates/list says what there is.')
  const variables = VARIABLES[template.uriTemplate]
  const source = Object.hasOwn(variables, argument) ? variables[argument] : undefined
  if (!source) throw invalidParams('The template has no such variable.')
  return source
}

/** What begins with the text first, then what holds it anywhere. */
function matching(values: readonly string[], text: string): string[] {
  const wanted = text.toLowerCase()
  const known = [...new Set(values)]
  const begins = known.filter((value) => value.toLowerCase().startsWith(wanted))
  const holds = known.filter((value) => value.toLowerCase().indexOf(wanted) > 0)
  return [...begins, ...holds]
}

/** Receipts of the latest attempts, as the list of attempts shows them: a capability's own, a service key's those of its account. */
async function ownReceipts(core: OfferCore, { link, caller }: Completing): Promise<readonly string[]> {
  if (caller?.kind !== 'agent' && caller?.kind !== 'operator') return []
  const result = await callOwn(core, link, 'gateway.egress.attempts.list', { limit: MAX_VALUES })
  if (!result) return []
  if (!result.ok) throw result.error
  const attempts = isObject(result.output) ? result.output['attempts'] : []
  return textsOf(attempts, 'receipt_id')
}

const idsOf = (entries: unknown) => textsOf(entries, 'id')

const textsOf = (entries: unknown, key: string): string[] =>
  Array.isArray(entries)
    ? entries.flatMap((entry: unknown) => {
        const value = isObject(entry) ? entry[key] : undefined
        return typeof value === 'string' ? [value] : []
      })
    : []
