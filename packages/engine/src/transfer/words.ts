// What the agent says by itself around a transfer, in the languages we have; English elsewhere.

interface Words {
  readonly hello: string
  readonly confirm: string
  readonly callerLeft: string
  readonly connecting: string
}

const words: Readonly<Record<string, Words>> = {
  en: {
    hello: "Hello, I have a caller on the line for you.",
    confirm: "Shall I put the call through? Please say yes or no.",
    callerLeft: "The caller has hung up in the meantime. Thank you and goodbye.",
    connecting: "I am connecting you now."
  },
  de: {
    hello: "Guten Tag, ich habe einen Anruf für Sie.",
    confirm: "Darf ich durchstellen? Bitte sagen Sie Ja oder Nein.",
    callerLeft: "Der Anrufer hat inzwischen aufgelegt. Vielen Dank und auf Wiederhören.",
    connecting: "Ich verbinde Sie jetzt."
  },
  fr: {
    hello: "Bonjour, j'ai un appel pour vous.",
    confirm: "Puis-je vous le passer ? Dites oui ou non.",
    callerLeft: "L'appelant a raccroché entre-temps. Merci et au revoir.",
    connecting: "Je vous mets en relation."
  },
  es: {
    hello: "Hola, tengo una llamada para usted.",
    confirm: "¿Se la paso? Diga sí o no.",
    callerLeft: "La persona ha colgado mientras tanto. Gracias y adiós.",
    connecting: "Les pongo en contacto."
  }
}

/** ISO 639-1; English where the language is not known. */
export const wordsIn = (language: string): Words => words[language] ?? (words["en"] as Words)
