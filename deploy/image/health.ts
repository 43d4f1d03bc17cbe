// The health check of the image: 0 where `/readyz` answers 200, else 1. There is no curl and no shell in it.
const port = process.env['PORT'] || '8402'
/** `::` takes connections to both. */
const host = process.env['HOST'] === '::1' ? '[::1]' : '127.0.0.1'
try {
  const answer = await fetch(`http://${host}:${port}/readyz`, { signal: AbortSignal.timeout(4000) })
  process.stdout.write(`${answer.status} ${(await answer.text()).slice(0, 500)}\n`)
  process.exitCode = answer.ok ? 0 : 1
} catch {
  process.stdout.write('no answer\n')
  process.exitCode = 1
}
