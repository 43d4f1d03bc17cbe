// The generated documents that are checked in, for readers who have the repository and no running gateway.
import { createRegistry } from '../core/registry.ts'
import type { AnyTool } from '../core/registry.ts'
import { type BenchResults, configurationPage, metricsPage, performancePage, toolsPage } from './pages.ts'
import { type ChaosResults, reliabilityPage } from './reliability.ts'
import { agentText } from './agent-text.ts'
import { schemaDocument } from './texts.ts'

/** Stands where a running gateway puts its own address. */
export const PLACEHOLDER_BASE_URL = 'http://localhost:8402'

/** @returns path in the repository -> text */
export function generatedFiles(from: {
  tools: readonly AnyTool[]
  variables: Parameters<typeof configurationPage>[0]
  metrics: Parameters<typeof metricsPage>[0]
  bench: BenchResults
  chaos: ChaosResults
}): Map<string, string> {
  const registry = createRegistry(from.tools)
  const addresses = {
    baseUrl: PLACEHOLDER_BASE_URL,
    siteUrl: PLACEHOLDER_BASE_URL,
    mcpUrl: `${PLACEHOLDER_BASE_URL}/mcp`,
  }
  return new Map([
    ['agent.txt', agentText(registry, addresses)],
    ['docs/tools.md', toolsPage(registry)],
    ['docs/configuration.md', configurationPage(from.variables)],
    ['docs/metrics.md', metricsPage(from.metrics)],
    ['docs/performance.md', performancePage(from.bench)],
    ['docs/reliability.md', reliabilityPage(from.chaos)],
    ...registry.tools.map((entry): [string, string] => [
      `schemas/json/${entry.portableName}.json`,
      `${JSON.stringify(schemaDocument(entry), undefined, 2)}\n`,
    ]),
  ])
}
