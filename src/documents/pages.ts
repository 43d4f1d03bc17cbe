// The generated pages of docs/, and the code blocks of the written ones: each comes from a file that a test runs.
import type { Registry } from '../core/registry.ts'
import { JOBS } from '../outcomes/intents/jobs.ts'
import { toolTable } from './texts.ts'

export const GENERATED_NOTE = '<!-- Written by `npm run generate`; do not edit. -->'

/** A row of a Markdown table. A bar would end its cell. */
const row = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

export const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** docs/tools.md */
export const toolsPage = (registry: Registry): string => `# Tools

${GENERATED_NOTE}

One registry serves every tool over MCP, A2A and REST. An empty cell means that the tool is not served there. MCP lists a tool with underscores
in place of the dots (\`gateway_egress_fetch\`), which every client accepts; both names are always accepted in a call, and [connecting MCP clients](guides/mcp.md)
says who is shown the dots.

${toolTable(registry)}

Tools for a service key are shown and callable only with one on the connection. Every REST tool is in \`/openapi.json\`. The schemas of inputs and
outputs are in [schemas/json](../schemas/json). Every error is a problem document (RFC 9457) with a stable \`code\`, a \`detail\` that says what to
do next, and a page at \`/problems/{code}\`.

## What \`gateway_execute\` does not do

A request in words for one of these is refused before a price, with the nearest job as an example in \`repair\`. Where it is asked for beside a job
that is done, the 402 names it in \`intent.left_out\`.

${table(
  ['asked for', 'instead', 'nearest'],
  Object.values(JOBS).map(({ name, why, nearest }) => [name, why, `\`${nearest}\``]),
)}
`

/** docs/configuration.md: the rows are of the schema that reads the variables. */
export const configurationPage = (
  variables: readonly { readonly name: string; readonly default: string; readonly description: string }[],
): string => `# Configuration

${GENERATED_NOTE}

The gateway is configured by environment variables. Without any of them it starts in sandbox mode. An empty variable counts as unset. What is wrong
is listed whole, in words, before anything listens, and the exit code is 78. A variable that begins with \`GATEWAY_\` and is not in this table is not
read: the start warns of it and names the nearest one.

${table(
  ['variable', 'default', 'meaning'],
  variables.map((variable) => [`\`${variable.name}\``, variable.default, variable.description]),
)}

Policies are files in the data directory, or rows of the \`documents\` table with PostgreSQL. They are read while the gateway runs:
\`egress-policy.json\` and \`payment-policy.json\` ([operating](operating.md)), \`transaction-policy.json\` ([inspection](guides/inspection.md)), \`market.json\` ([selling](guides/selling.md)) and
\`email-domains.json\` ([email](guides/email.md)).
`

/** docs/metrics.md: the rows are of the list that the instruments are made from. */
export const metricsPage = (
  metrics: readonly {
    readonly name: string
    readonly series: string
    readonly kind: string
    readonly unit: string
    readonly labels: readonly string[]
    readonly description: string
  }[],
): string => `# Metrics

${GENERATED_NOTE}

What a gateway measures where telemetry is configured ([operating](operating.md#watching)). Over OTLP instruments have the names of the first column; Prometheus shows those of the
second, of a histogram with \`_bucket\`, \`_sum\` and \`_count\` behind them. Dots of a label are underscores there: \`http_route\`.

${table(
  ['instrument', 'Prometheus', 'kind', 'unit', 'labels', 'what'],
  metrics.map(({ name, series, kind, unit, labels, description }) => [
    `\`${name}\``,
    `\`${series}\``,
    kind,
    unit,
    labels.map((label) => `\`${label}\``).join(' '),
    description,
  ]),
)}

Values of labels come from lists of this gateway: its tools, doors, error codes, routes as OpenAPI writes them, networks that it serves, methods of HTTP and MCP. Whatever a caller writes that is in none is
\`_OTHER\`. No label names an account, a key, a person, a wallet, a credential, a path or a host. An instrument has 2,000 series at most (\`http.server.request.duration\` 5,000, \`agent_gateway.calls\` 10,000); what comes
after those is counted under \`otel.metric.overflow\`.
`

/** `bench/results.json`, as \`npm run bench -- --write\` leaves it. */
export interface BenchResults {
  readonly tables: readonly {
    readonly bench: string
    readonly title: string
    /** Node, platform, processor and day. */
    readonly measured: string
    readonly head: readonly string[]
    readonly rows: readonly (readonly (string | number)[])[]
  }[]
}

/** docs/performance.md */
export const performancePage = ({ tables }: BenchResults): string => `# Performance

${GENERATED_NOTE}

\`npm run bench\` measures the gateway side by side with its peers, in processes of their own, and prints CPU per operation and ratios.
\`npm run bench -- --write\` also writes its tables to \`bench/results.json\`, and \`npm run generate\` makes this page of them. Names after \`--\` choose
single benchmarks. \`--corpus DIR\` has those that read pages and feeds score yours: \`bench/corpora.ts\` says how DIR is laid out. \`--base DIR\` compares inspections with the code of another checkout. Nothing here is asserted by the clock in \`npm test\`.
${tables
  .map(
    ({ title, measured, head, rows }) =>
      `\n## ${title}\n\n${measured}\n\n${table(
        head.map((name) => name || 'what'),
        rows.map((cells) => cells.map(String)),
      )}\n`,
  )
  .join('')}`

const REGION_MARKS = /^\/\/ #(?:end)?region.*\n/gm
const BLOCK = /(<!-- from (\S+?)(?:#([\w-]+))? -->\n```\w+\n)(?:[^]*?\n)??(```)(?=\n|$)/g

/**
 * A page with its marked code blocks as their sources are now. A block is marked by the comment before it:
 * `from examples/x.ts` is the whole file, `from examples/x.ts#name` what stands between `// #region name` and `// #endregion`.
 *
 * @param read the text of a file of the repository
 * @throws when a page names a region that its source does not have
 */
export const withSources = (page: string, read: (path: string) => string): string =>
  page.replace(BLOCK, (_all, start: string, path: string, region: string | undefined, end: string) => {
    const source = read(path)
    const text = region === undefined ? source.replace(REGION_MARKS, '') : regionOf(source, region)
    if (text === undefined) throw new Error(`${path} has no region ${region}`)
    return `${start}${text.trimEnd()}\n${end}`
  })

const regionOf = (text: string, name: string) =>
  new RegExp(`// #region ${name}\\n([^]*?)\\n// #endregion`).exec(text)?.[1]
