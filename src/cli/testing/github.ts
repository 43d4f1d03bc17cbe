// Workflow commands of GitHub Actions: each finding becomes an annotation at its line. Names in a sample and names of files come from
// whoever sent the pull request, and a line that begins with `::` is an order to the runner: everything is escaped.
import { isBelow, isFaulty, describeShortfall, listFailures, type Outcome } from './outcome.ts'
import { type Finding, listFindings } from './findings.ts'

/** @param pathOf the file as the repository names it; undefined for stdin */
export function formatGithub(outcome: Outcome, pathOf: (file: string) => string | undefined): string {
  const lines: string[] = []
  for (const file of outcome.files) {
    const path = pathOf(file.file)
    const isFailed = isFaulty(file) || isBelow(file, outcome.minScore)
    if (isFailed && !isFaulty(file))
      lines.push(
        command(
          'error',
          path,
          undefined,
          'Score',
          `${file.file} ${describeShortfall(file, outcome.minScore)}.`,
        ),
      )
    for (const finding of listFindings(file)) {
      // What keeps nobody from merging is not shown as an error.
      const level = finding.level === 'error' && !isFailed ? 'warning' : LEVELS[finding.level]
      lines.push(command(level, path, finding, finding.id, messageOf(finding)))
    }
    if (!isFaulty(file))
      lines.push(plain(`${file.file}: ${file.report.score}/100 ${file.report.level.replaceAll('_', ' ')}`))
  }
  const failed = listFailures(outcome).length
  lines.push(plain(`${outcome.files.length} tested, ${failed} failed.`))
  return lines.join('\n')
}

const LEVELS = { error: 'error', warning: 'warning', note: 'notice' } as const

const messageOf = ({ says, remedy, fragment, place, spec, lost }: Finding) =>
  [
    `${says}${lost === 0 ? '' : ` (${lost} points)`}`,
    ...(remedy === null ? [] : [`-> ${remedy}`]),
    ...(fragment === null ? [] : [fragment]),
    ...(place === '' ? [] : [`at ${place}`]),
    ...(spec === null ? [] : [`see ${spec}`]),
  ].join('\n')

function command(
  name: string,
  path: string | undefined,
  finding: Finding | undefined,
  title: string,
  message: string,
): string {
  const region = finding?.region
  const properties: Record<string, string | number> = {
    ...(path !== undefined && { file: path, line: region?.line ?? 1 }),
    // A column says something only where the region ends in its line.
    ...(path !== undefined &&
      region && {
        endLine: region.endLine,
        ...(region.line === region.endLine && { col: region.column, endColumn: region.endColumn }),
      }),
    title,
  }
  const given = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`)
  return `::${name} ${given.join(',')}::${escapeData(message)}`
}

/** As the runner's own toolkit escapes them, and besides whatever else ends a line or cannot be seen. */
const escapeData = (text: string) =>
  text.replace(/[%\r\n\p{Zl}\p{Zp}\p{Cc}\p{Bidi_C}]/gu, (character) => encodeURIComponent(character))
const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** A line that is no command: the runner looks for `::` at its beginning, and for `##[` anywhere. */
const plain = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu, '?')
    .replace(/^\s*::/, '?')
    .replaceAll('##[', '#?[')
