// What MCP offers beside tools: resources, prompts, completion, and the Skills extension. Decides who asks and how long an answer
// holds; one function for the fast path, the SDK and stdio.
import { GatewayError } from '../../core/errors.ts'
import type { Caller } from '../../core/caller.ts'
import { LIST_TTL_MS } from './catalogue.ts'
import { complete } from './completion.ts'
import type { Link } from './link.ts'
import type { Era } from './lists.ts'
import type { OfferCore } from './offer-core.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { invalidParams, noSuchResource } from './refusal.ts'
import { createResources, TEMPLATES } from './resources.ts'
import { createSkills, SKILLS_EXTENSION } from './skills.ts'
import type { JsonObject } from './wire.ts'

/** Nothing here changes while the process runs, so nobody is told of changes and nothing is subscribed to. */
export const OFFERED = {
  capabilities: { resources: {}, prompts: {}, completions: {} },
  extensions: { [SKILLS_EXTENSION]: {} },
} as const

export const OFFER_METHODS = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'skills/list',
  'skills/get',
] as const
export type OfferMethod = (typeof OFFER_METHODS)[number]

const KNOWN: ReadonlySet<string> = new Set(OFFER_METHODS)
export const isOfferMethod = (method: string): method is OfferMethod => KNOWN.has(method)

export interface Offers {
  /**
   * The members of a result.
   * @throws {RpcRefusal} what is asked for is not there, or not asked for as it should be
   * @throws {GatewayError} rate_limited and the like
   */
  answer(request: { method: OfferMethod; params: JsonObject }, link: Link, era: Era): Promise<JsonObject>
}

export function createOffers(core: OfferCore): Offers {
  const { parts, catalogue } = core
  const skillsIn = createSkills(parts.skills ?? [], catalogue.spell)
  const resources = createResources(core, skillsIn)

  /** An invalid token is as good as none: what is wrong with it is said where it is used. */
  async function admit(method: OfferMethod, { tokens, address }: Link): Promise<Caller | undefined> {
    try {
      return await parts.calls.admit(method, tokens, address)
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.status === 401) return undefined
      throw thrown
    }
  }

  return {
    async answer({ method, params }, link, era) {
      const spelling = core.spellingOf(link)
      const skills = skillsIn(spelling)
      const shown = async () => catalogue.tools(await core.viewOf(link))
      const lasting = (result: JsonObject, ttlMs = LIST_TTL_MS): JsonObject =>
        era === 'modern' ? { ...result, ttlMs, cacheScope: 'private' } : result

      const caller = await admit(method, link)
      if (method.endsWith('/list') && params['cursor'] !== undefined)
        throw invalidParams('Unknown cursor: the list is one page.')
      switch (method) {
        case 'resources/list':
          return lasting({ resources: resources.list })
        case 'resources/templates/list':
          return lasting({ resourceTemplates: TEMPLATES })
        case 'resources/read': {
          const uri = textOf(params, 'uri')
          const content = await resources.read(uri, link)
          if (!content) throw noSuchResource(uri, era)
          const { isFresh, ...rest } = content
          return lasting({ contents: [{ uri, ...rest }] }, isFresh ? 0 : LIST_TTL_MS)
        }
        case 'prompts/list':
          return lasting({ prompts: listPrompts(skills) })
        case 'prompts/get':
          return getPrompt(skills, params)
        case 'completion/complete':
          return complete(core, params, { link, caller, skills, shown: await shown() })
        case 'skills/list':
          return lasting({ skills: skills.map(({ entry }) => entry) })
        case 'skills/get': {
          const uri = textOf(params, 'uri')
          const skill = skills.find((each) => each.uri === uri)
          if (!skill)
            throw invalidParams('No skill is served at this address. skills/list says which there are.')
          return lasting({ skill: skill.entry })
        }
      }
    },
  }
}

function textOf(params: JsonObject, name: string): string {
  const value = params[name]
  if (typeof value !== 'string') throw invalidParams(`\`${name}\` is a text.`)
  return value
}
