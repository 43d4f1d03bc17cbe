// Whether an object names a member twice: parsers take the last, other parsers the first, so it says two things.

/** @param json valid JSON; only the members of the outermost object are compared */
export function findDuplicateMember(json: string): string | undefined {
  const seen = new Set<string>()
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === '"') {
      const end = endOfString(json, at)
      const text = json.slice(at, end)
      at = end - 1
      if (depth !== 1 || !isFollowedByColon(json, end)) continue
      const name = JSON.parse(text) as string
      if (seen.has(name)) return name
      seen.add(name)
    }
  }
  return undefined
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

function isFollowedByColon(json: string, start: number): boolean {
  let at = start
  while (' \t\n\r'.includes(json[at] ?? '?')) at++
  return json[at] === ':'
}
