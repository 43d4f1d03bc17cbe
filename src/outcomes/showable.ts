// Decides what a refusal may show of a request. Addresses and words can hold secrets: passwords, tokens, signed queries.

const SECRET_NAME =
  /(?:^|[_.-])(?:access|api|auth|authorization|code|credential|jwt|key|pass|passwd|password|pwd|secret|session|sid|sig|signature|token)(?:$|[_.-])|(?:api|access|auth|secret|private)_?(?:key|token)|token$|secret$/i
/** Letters and digits in one long run: nobody reads that aloud. */
const MIN_TOKEN_CHARACTERS = 20
const RUN = new RegExp(`[A-Za-z0-9_~+]{${MIN_TOKEN_CHARACTERS},}`, 'g')

/** False where it may hold a secret. A URL or plain words. */
export function isShowable(text: string): boolean {
  // Addresses that are none may hold one, too: `https://https//name:password@host`.
  if (/(?:[\\/]{2}[^\\/?#]*|:[^\\/?#\s:]*)@/.test(text)) return false
  if (Array.from(text.matchAll(RUN)).some(([run]) => /\d/.test(run) && /[A-Za-z]/.test(run))) return false
  if (/\beyJ[\w-]{8,}/.test(text)) return false
  if (!URL.canParse(text)) return true
  return ![...new URL(text).searchParams.keys()].some((name) => SECRET_NAME.test(name))
}
