// What the memory of a running process holds, as a core dump of it would: every readable private mapping, read past the process.
import { open, readFile } from 'node:fs/promises'

const CHUNK = 4 * 1024 * 1024

/** How often the bytes stand in the memory of the process. Linux only, and only for a process of one's own. */
export async function countInMemory(pid: number, needle: Buffer): Promise<number> {
  const maps = (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n')
  const memory = await open(`/proc/${pid}/mem`, 'r')
  let count = 0
  try {
    for (const line of maps) {
      const match = /^([0-9a-f]+)-([0-9a-f]+) (r\S{3}) \S+ \S+ \S+ *(.*)$/.exec(line)
      if (!match || /^\[(?:vvar|vsyscall|vdso)/.test(match[4] ?? '')) continue
      const [start, end] = [Number.parseInt(match[1] ?? '', 16), Number.parseInt(match[2] ?? '', 16)]
      for (let at = start; at < end; at += CHUNK) {
        const size = Math.min(CHUNK + needle.length - 1, end - at)
        const { buffer, bytesRead } = await memory
          .read(Buffer.alloc(size), 0, size, at)
          .catch(() => ({ buffer: Buffer.alloc(0), bytesRead: 0 }))
        const bytes = buffer.subarray(0, bytesRead)
        for (let found = bytes.indexOf(needle); found >= 0; found = bytes.indexOf(needle, found + 1)) count++
      }
    }
  } finally {
    await memory.close()
  }
  return count
}
