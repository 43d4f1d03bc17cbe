// What of the generated documents is checked in, for readers who have the repository and no running gateway.
import { createRegistry } from '../core/registry.ts'
import type { AnyTool } from '../core/registry.ts'
import { agentText, schemaDocument, toolTable } from './texts.ts'

/** Stands where a running gateway puts its own address. */
export const PLACEHOLDER_BASE_URL = 'http://127.0.0.1:8402'

/** @returns path in the repository -> text */
export function generatedFiles(tools: readonly AnyTool[]): Map<string, string> {
  const registry = createRegistry(tools)
  const addresses = {
    baseUrl: PLACEHOLDER_BASE_URL,
    siteUrl: PLACEHOLDER_BASE_URL,
    mcpUrl: `${PLACEHOLDER_BASE_URL}/mcp`,
  }
  return new Map([
    ['agent.txt', agentText(registry, addresses)],
    ...registry.tools.map((entry): [string, string] => [
      `schemas/json/${entry.portableName}.json`,
      `${JSON.stringify(schemaDocument(entry), undefined, 2)}\n`,
    ]),
  ])
}

const TABLE = /(<!-- tools: [^>]*-->\n)[^]*?(<!-- \/tools -->)/

/** README.md with the table of tools as the registry has them now. */
export const withToolTable = (readme: string, tools: readonly AnyTool[]): string =>
  readme.replace(
    TABLE,
    (_all, start: string, end: string) => `${start}\n${toolTable(createRegistry(tools))}\n\n${end}`,
  )
