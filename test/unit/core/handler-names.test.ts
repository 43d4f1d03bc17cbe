import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { tools } from '../../../tools/index.ts'

const folder = new URL('../../../tools/', import.meta.url)
const sources = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(new URL(file, folder), 'utf8'))
/** Constant of each tool, and the function that does its work. */
const defined = sources.flatMap((source) =>
  source
    .split(/^export const (?=\w+ = defineTool\()/m)
    .slice(1)
    .map((text) => [
      /^\w+/.exec(text)?.[0],
      /^ {2}(?:handle|plan): (?:async )?function (\w+)\(/m.exec(text)?.[1],
    ]),
)

describe('the function of a tool', () => {
  it('is looked at in every tool', () => {
    expect(defined).toHaveLength(tools.length)
  })

  it.each(defined)('of %s has its name, which stack traces and profiles show', (tool, work) => {
    expect(work).toBe(tool)
  })

  it('is in the stack of what it throws', async () => {
    const [tool] = tools.filter(({ name }) => name === 'gateway.capabilities')
    const run = async () => (await tool?.plan({} as never, {} as never))?.run({} as never)
    await expect(run()).rejects.toThrow(
      expect.objectContaining({ stack: expect.stringMatching(/at \S*capabilities \(/) }),
    )
  })
})
