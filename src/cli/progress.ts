// How far long work is, on stderr: a line that changes, on a terminal alone. Logs and pipes get what is said at the end.
const EVERY_MS = 200

/** @returns shows the phase; `end` clears the line */
export function createProgressLine(stderr: NodeJS.WriteStream = process.stderr): {
  show(phase: string, rows: number, total: number | null): void
  end(): void
} {
  let shownAt = -EVERY_MS
  let width = 0
  return {
    show(phase, rows, total) {
      if (!stderr.isTTY || performance.now() - shownAt < EVERY_MS) return
      shownAt = performance.now()
      // What is estimated is never shown as more than all.
      const share =
        total === null || total === 0 ? '' : ` (${Math.min(100, Math.floor((rows / total) * 100))} %)`
      const text = `${phase}: ${rows} rows${share}`
      stderr.write(`\r${text.padEnd(width)}`)
      width = text.length
    },
    end() {
      if (width > 0) stderr.write(`\r${' '.repeat(width)}\r`)
      width = 0
    },
  }
}
