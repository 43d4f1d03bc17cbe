import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { free } from '../../../src/core/price.ts'
import { parseSendRequest } from '../../../src/doors/a2a/envelope.ts'
import { chooseSkill, createSkillTable } from '../../../src/doors/a2a/skills.ts'
import { createRegistry, type SkillCard } from '../../../src/core/registry.ts'
import { defineTool } from '../../../tools/services.ts'

const tool = (name: string, skills: readonly string[]) =>
  defineTool({
    name,
    title: name,
    toolset: 'web',
    summary: name,
    input: z.object(
      skills.length > 1
        ? { capability: z.enum(['alpha', 'beta']), intent: z.string().optional() }
        : { a: z.int().optional() },
    ),
    output: z.strictObject({}),
    price: free,
    caller: 'anyone',
    effects: { readOnly: true, idempotent: true, openWorld: false },
    rest: { method: 'POST', path: `/${name}`, operationId: name },
    skill: skills.map((id): SkillCard => ({ id, tags: [], examples: [] })),
    errors: [],
    examples: [],
    ...(skills.length > 1 && { understands: (words: string) => words.startsWith('digest ') }),
    handle: async () => ({}),
  })
const table = createSkillTable(
  createRegistry([tool('gateway.one', ['one']), tool('gateway_execute', ['alpha', 'beta'])]),
)
const URI = 'https://gateway.example/a2a/ext/skills/v1'

function choose(message: Record<string, unknown>, metadata?: Record<string, unknown>) {
  const request = parseSendRequest({
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'please' }], ...message },
    metadata,
  })
  const choice = chooseSkill(table, request, URI)
  return choice.kind === 'none' ? 'none' : [choice.skill.id, choice.input]
}
const data = (value: unknown) => ({ parts: [{ data: value }] })
const text = (value: string) => ({ parts: [{ text: value }] })

describe('chooseSkill', () => {
  const forms: [string, Record<string, unknown>, Record<string, unknown> | undefined][] = [
    ['our extension', { metadata: { [URI]: { skillId: 'one', input: { a: 1 } } } }, undefined],
    ['a data part with skill and input', data({ skill: 'one', input: { a: 1 } }), undefined],
    ['a data part with skillId and parameters', data({ skillId: 'one', parameters: { a: 1 } }), undefined],
    ['a data part with tool and arguments', data({ tool: 'gateway.one', arguments: { a: 1 } }), undefined],
    ['the portable name', data({ tool: 'gateway_one', arguments: { a: 1 } }), undefined],
    ['message metadata', { metadata: { skillId: 'one', input: { a: 1 } } }, undefined],
    [
      'message metadata and the input as a data part',
      { ...data({ a: 1 }), metadata: { skill: 'one' } },
      undefined,
    ],
    ['request metadata', {}, { skill: 'one', input: { a: 1 } }],
    ['JSON as text', text('{"skill":"one","input":{"a":1}}'), undefined],
    ['JSON within words', text('Please run {"skill":"one","input":{"a":1}} for me'), undefined],
    ['JSON in a code fence', text('```json\n{"skill":"one","input":{"a":1}}\n```'), undefined],
    [
      'the second of two parts',
      { parts: [{ text: 'x' }, { data: { skill: 'one', input: { a: 1 } } }] },
      undefined,
    ],
  ]
  for (const [what, message, metadata] of forms)
    test(`reads ${what}`, () => expect(choose(message, metadata)).toEqual(['one', { a: 1 }]))

  test('takes an earlier form over a later one', () => {
    const all = {
      ...data({ skill: 'alpha' }),
      metadata: { [URI]: { skillId: 'one', input: {} }, skill: 'beta' },
    }
    expect(choose(all, { skill: 'beta' })).toEqual(['one', {}])
    expect(choose({ ...all, metadata: { skill: 'beta' } })).toEqual(['alpha', { capability: 'alpha' }])
    expect(choose({ ...text('{"skill":"one"}'), metadata: { skill: 'beta' } }, { skill: 'alpha' })).toEqual([
      'beta',
      { skill: 'one', capability: 'beta' },
    ])
  })

  test('adds the capability that a skill of a family stands for, and refuses another', () => {
    expect(choose(data({ skill: 'beta', input: { n: 1 } }))).toEqual(['beta', { n: 1, capability: 'beta' }])
    expect(choose(data({ skill: 'beta', input: { capability: 'beta' } }))).toEqual([
      'beta',
      { capability: 'beta' },
    ])
    expect(() => choose(data({ skill: 'beta', input: { capability: 'alpha' } }))).toThrow(
      /another capability/,
    )
    expect(choose(data({ tool: 'gateway_execute', input: { capability: 'beta' } }))).toEqual([
      'gateway_execute',
      { capability: 'beta' },
    ])
  })

  test('refuses another capability as the conflict that it is', () => {
    expect(() => choose(data({ skill: 'beta', input: { capability: 'alpha' } }))).toThrow(
      expect.objectContaining({ code: 'input_conflict' }),
    )
  })

  test('takes words in place of an input for an intent, where the skill has one', () => {
    const named = (skill: string) => ({ ...text(' the three newest '), metadata: { skill } })
    expect(choose(named('beta'))).toEqual(['beta', { intent: 'the three newest', capability: 'beta' }])
    expect(choose(data({ skill: 'beta', input: 'newest' }))).toEqual([
      'beta',
      { intent: 'newest', capability: 'beta' },
    ])
    expect(choose(named('one'))).toEqual(['one', {}])
    expect(choose({ ...text('  '), metadata: { skill: 'beta' } })).toEqual(['beta', { capability: 'beta' }])
  })

  test('takes words that a tool understands for its intent, where nothing is named and no task is followed up', () => {
    expect(choose(text(' digest the news '))).toEqual(['gateway_execute', { intent: 'digest the news' }])
    expect(choose(text('Hello, what can you do?'))).toBe('none')
    expect(choose({ ...text('digest the news'), taskId: 't1' })).toBe('none')
    expect(choose({ parts: [{ text: 'digest the news' }, { data: { a: 1 } }] })).toBe('none')
    expect(choose({ ...text('digest the news'), metadata: { skill: 'one' } })).toEqual(['one', {}])
  })

  test('prefers the input of the metadata to words beside it', () => {
    const message = { ...text('words'), metadata: { skill: 'beta', input: { n: 1 } } }
    expect(choose(message)).toEqual(['beta', { n: 1, capability: 'beta' }])
  })

  for (const message of [
    text('Hello, what can you do?'),
    text('{broken'),
    text('{"a":1}'),
    data({ a: 1 }),
    data([1]),
  ])
    test(`finds no skill in ${JSON.stringify(message)}`, () => expect(choose(message)).toBe('none'))

  test('names the skills when it does not know one', () => {
    expect(() => choose(data({ skill: 'two' }))).toThrow(/no skill "two".*one, alpha, beta/)
  })
})
