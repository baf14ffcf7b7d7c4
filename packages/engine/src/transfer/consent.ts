// What a colleague answers when asked to take a call. Pure; what is neither is asked again.

const yes =
  /\b(yes|yeah|yep|yup|sure|okay|ok|please do|go ahead|put (him|her|them|it) through|connect|fine|of course|certainly|ja|gerne|klar|oui|d'accord|bien sur|bien sûr|si|sí|claro|vale)\b/
const no =
  /\b(no|nope|not now|not available|can't|cannot|busy|later|don't|decline|nein|nicht|keine zeit|non|pas maintenant|ahora no)\b/

/** A refusal counts before an agreement: "no, not okay". */
export const consentIn = (said: string): "yes" | "no" | "unclear" => {
  const plain = said
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/[^\p{L}' ]+/gu, " ")
  if (no.test(plain)) return "no"
  return yes.test(plain) ? "yes" : "unclear"
}

/** 1 takes the call, 2 does not. */
export const consentByKey = (digit: string): "yes" | "no" | "unclear" =>
  digit === "1" ? "yes" : digit === "2" ? "no" : "unclear"
