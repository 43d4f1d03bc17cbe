// The findings as SARIF 2.1.0 (OASIS), which code scanning and editors read.
import { hash } from 'node:crypto'
import { listRules } from '../../commerce/rubric/schema.ts'
import { API_VERSION } from '../../core/config.ts'
import { type Finding, listFindings } from './findings.ts'
import { isFaulty, type Outcome } from './outcome.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/**
 * One run over all files, in the order they were judged. Same files, same bytes.
 * @param uriOf the file as a reference (RFC 3986), relative to the repository; undefined for stdin
 */
export function toSarif(outcome: Outcome, uriOf: (file: string) => string | undefined): object {
  const found = outcome.files.flatMap((file) =>
    listFindings(file).map((finding) => ({ finding, uri: uriOf(file.file) })),
  )
  const rules = rulesOf(found.map(({ finding }) => finding))
  const judged = outcome.files.flatMap((file) => (isFaulty(file) ? [] : file))
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'agent-gateway', version: API_VERSION, rules } },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: judged.length === outcome.files.length }],
        results: found.map(({ finding, uri }) => resultOf(finding, uri, rules)),
        properties: {
          min_score: outcome.minScore ?? null,
          reports: judged.map(({ file, report }) => ({
            uri: uriOf(file) ?? null,
            score: report.score,
            level: report.level,
            applicable: report.applicable,
            ruleset_version: report.ruleset_version,
            report_hash: report.report_hash,
          })),
        },
      },
    ],
  }
}

interface Rule {
  readonly id: string
  readonly shortDescription: { readonly text: string }
  readonly help?: { readonly text: string }
}

/** One for each id that was found, sorted. */
function rulesOf(findings: readonly Finding[]): Rule[] {
  const asked = listRules()
  const byId = new Map(findings.map((finding) => [finding.id, finding]))
  return [...byId.values()]
    .map(({ id, says, spec }) => ({
      id,
      shortDescription: { text: asked.get(id) ?? says },
      ...(spec !== null && { help: { text: `See ${spec}.` } }),
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function resultOf(
  { id, level, place, region, says, remedy, fragment, lost }: Finding,
  uri: string | undefined,
  rules: readonly Rule[],
): object {
  return {
    ruleId: id,
    ruleIndex: rules.findIndex((rule) => rule.id === id),
    level,
    message: { text: remedy === null ? says : `${says} ${remedy}` },
    ...(uri !== undefined && {
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri, ...(!uri.includes(':') && { uriBaseId: '%SRCROOT%' }) },
            region: {
              startLine: region.line,
              startColumn: region.column,
              endLine: region.endLine,
              endColumn: region.endColumn,
            },
          },
          ...(place !== '' && { logicalLocations: [{ fullyQualifiedName: place }] }),
        },
      ],
    }),
    // A finding stays the same one when lines above it come and go.
    partialFingerprints: { 'findingAt/v1': hash('sha256', `${uri ?? ''}\n${id}\n${place}`) },
    properties: { points_lost: lost, fragment },
  }
}
