// MCP resources: the catalogue, each tool in full, problems, skills, and receipts by their id. Decides what there is and how it is
// written; what a tool answers is asked of the tool, with the tokens of the connection.
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import type { RegisteredTool } from '../../core/registry.ts'
import { problemText } from '../../documents/problems.ts'
import { priceWords } from '../../documents/protocols.ts'
import { messageAnswer } from '../message-answer.ts'
import { answerSchema } from './answer-schema.ts'
import type { OfferCore } from './offer-core.ts'
import type { Link } from './link.ts'
import { type Spelling } from './names.ts'
import { spellSchema } from '../../core/tool-words.ts'
import { callOwn } from './own-call.ts'
import type { PublishedSkill } from './skills.ts'
import type { JsonObject } from './wire.ts'

const JSON_TYPE = 'application/json'
const MARKDOWN = 'text/markdown'
const CODES = Object.keys(ERRORS) as ErrorCode[]

/** Templates, and what completes each of their variables (completion.ts). */
export const TEMPLATES = [
  {
    uriTemplate: 'gateway://tools/{name}',
    name: 'tool',
    title: 'A tool in full',
    description:
      'What the list of tools leaves out: the whole input and output schema, examples, codes it ends in',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'gateway://capabilities/{id}',
    name: 'capability',
    title: 'One entry of the catalogue',
    description: 'Price, limits, an example that works, and what the answer holds',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'gateway://problems/{code}',
    name: 'problem',
    title: 'A code of a problem document',
    description: 'What the code means, what to do, and which tools end in it',
    mimeType: MARKDOWN,
  },
  {
    uriTemplate: 'gateway://receipts/{receipt_id}',
    name: 'receipt',
    title: 'A signed receipt',
    description:
      'What was done and charged, with a signature that anybody can verify; whoever holds the id may read it',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'skill://{name}/SKILL.md',
    name: 'skill',
    title: 'A goal that is reached with several tools',
    description: 'Who pays, in what order, and what can fail',
    mimeType: MARKDOWN,
  },
] as const

/** The content of a resource. */
export interface Content {
  readonly mimeType: string
  readonly text: string
  /** It may be another one the next time somebody looks. */
  readonly isFresh?: true
}

export interface Resources {
  readonly list: readonly JsonObject[]
  /**
   * Undefined where there is none.
   * @throws {GatewayError} rate_limited and the like, of the tool that was asked
   */
  read(uri: string, link: Link): Promise<Content | undefined>
}

/** Longer than any address that was given out. */
const MAX_URI = 512

export function createResources(
  core: OfferCore,
  skills: (spelling: Spelling) => readonly PublishedSkill[],
): Resources {
  const { parts, catalogue } = core
  const { registry } = parts

  /** The answer of a free tool in the form for messages; undefined where it says that there is no such thing. */
  async function ask(link: Link, name: string, input: JsonObject, wantsSignatures = false) {
    const result = await callOwn(core, link, name, input)
    if (!result) return undefined
    if (!result.ok) {
      if (MISSES.has(result.error.code)) return undefined
      throw result.error
    }
    const tool = registry.find(name)?.tool
    return tool && messageAnswer({ tool, wantsSignatures }, result).json()
  }

  const json = (text: string | undefined): Content | undefined =>
    text === undefined ? undefined : { mimeType: JSON_TYPE, text }

  async function read(uri: string, link: Link): Promise<Content | undefined> {
    const spelling = core.spellingOf(link)
    const spell = (text: string) => catalogue.spell(text, spelling)
    const spelled = (text: string | undefined) => json(text === undefined ? undefined : spell(text))
    if (uri === 'gateway://catalogue') return spelled(await ask(link, 'gateway.capabilities', {}))
    if (uri === 'gateway://tools') {
      const shown = catalogue.tools(await core.viewOf(link))
      return index(
        'Tools',
        shown.map(({ name }) => `${name}: ${registry.find(name)?.tool.title ?? name}`),
      )
    }
    if (uri === 'gateway://skills')
      return index(
        'Skills',
        skills(spelling).map((skill) => `${skill.uri}: ${skill.description}`),
      )
    if (uri === 'gateway://problems')
      return index(
        'Codes',
        CODES.map((code) => `${code} (${ERRORS[code].status}): ${ERRORS[code].title}`),
      )
    const [, kind, id = ''] =
      /^gateway:\/\/(tools|capabilities|problems|receipts)\/([\w.-]{1,128})$/.exec(uri) ?? []
    switch (kind) {
      case 'tools': {
        const entry = registry.find(id)
        return entry?.tool.doors.includes('mcp')
          ? json(JSON.stringify(describeTool(entry, spelling, spell)))
          : undefined
      }
      case 'capabilities':
        return spelled(await ask(link, 'gateway.capabilities.get', { id }))
      case 'problems': {
        const code = CODES.find((known) => known === id)
        return code && { mimeType: MARKDOWN, text: spell(problemText(code, registry)) }
      }
      case 'receipts': {
        const receipt = json(await ask(link, 'gateway.receipts.get', { receipt_id: id }, true))
        return receipt && { ...receipt, isFresh: true }
      }
      default: {
        const skill = skills(spelling).find((each) => each.uri === uri)
        return skill && { mimeType: MARKDOWN, text: skill.text }
      }
    }
  }

  return {
    list: registry.find('gateway.capabilities') ? [CATALOGUE, ...INDEXES] : INDEXES,
    read: async (uri, link) => (uri.length > MAX_URI ? undefined : read(uri, link)),
  }
}

const MISSES: ReadonlySet<ErrorCode> = new Set(['not_found', 'receipt_not_found', 'input_invalid'])

const CATALOGUE = {
  uri: 'gateway://catalogue',
  name: 'catalogue',
  title: 'What is offered here',
  description: 'Every capability with its price and when to use it',
  mimeType: JSON_TYPE,
}

/** Some clients make a tool of each resource that is listed: there is one of each kind, and templates for what is in it. */
const INDEXES = [
  {
    uri: 'gateway://tools',
    name: 'tools',
    title: 'Tools in one line each',
    description: 'The tools of this connection; gateway://tools/{name} is one in full',
    mimeType: MARKDOWN,
  },
  {
    uri: 'gateway://skills',
    name: 'skills',
    title: 'Goals that are reached with several tools',
    description: 'What each is for; skill://{name}/SKILL.md says how',
    mimeType: MARKDOWN,
  },
  {
    uri: 'gateway://problems',
    name: 'problems',
    title: 'Codes of problem documents',
    description: 'Every code a call can end in; gateway://problems/{code} says what to do',
    mimeType: MARKDOWN,
  },
] as const

/** One line each, under a title. */
const index = (title: string, lines: readonly string[]): Content => ({
  mimeType: MARKDOWN,
  text: [`# ${title}`, '', ...lines.map((line) => `- ${line}`), ''].join('\n'),
})

/** Everything that a program or a model could want to know of a tool before it calls it. */
function describeTool(
  entry: RegisteredTool,
  spelling: Spelling,
  spell: (text: string) => string,
): JsonObject {
  const { tool, portableName, inputSchema, messageSchema, outputSchema } = entry
  const [route] = tool.rest
  return {
    name: spelling === 'portable' ? portableName : tool.name,
    title: tool.title,
    description: spell(tool.summary),
    price: priceWords(tool.price),
    caller: tool.caller,
    toolset: tool.toolset,
    annotations: tool.effects,
    input_schema: spellSchema(inputSchema, spell),
    output_schema: spellSchema(answerSchema(entry), spell),
    ...(messageSchema === outputSchema ? {} : { rest_output_schema: spellSchema(outputSchema, spell) }),
    examples: tool.examples,
    codes: tool.errors,
    rest: tool.doors.includes('rest') ? { method: route.method, path: route.path } : null,
    a2a_skills: tool.doors.includes('a2a') ? tool.skills.map(({ id }) => id) : [],
  }
}
