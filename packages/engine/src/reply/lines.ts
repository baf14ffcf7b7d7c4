// The few sentences the engine says by itself, when the model cannot be asked or must not be waited for.
import type { Line } from "../turn/Move.ts"

const lines: Readonly<Record<string, Readonly<Record<Line, string>>>> = {
  en: {
    hold: "Sorry, I did not get that. Could you say it again, please?",
    apology: "I am sorry, I have a technical problem and must end this call. Please try again later. Goodbye.",
    reengage: "Are you still there?",
    farewell: "I cannot hear you any more, so I will hang up now. Goodbye."
  },
  de: {
    hold: "Entschuldigung, das habe ich nicht mitbekommen. Können Sie das bitte wiederholen?",
    apology:
      "Es tut mir leid, ich habe ein technisches Problem und muss auflegen. Bitte versuchen Sie es später noch einmal. Auf Wiederhören.",
    reengage: "Sind Sie noch da?",
    farewell: "Ich höre Sie nicht mehr und lege jetzt auf. Auf Wiederhören."
  },
  fr: {
    hold: "Pardon, je n'ai pas saisi. Pouvez-vous répéter, s'il vous plaît ?",
    apology:
      "Je suis désolé, j'ai un problème technique et dois mettre fin à l'appel. Veuillez réessayer plus tard. Au revoir.",
    reengage: "Êtes-vous toujours là ?",
    farewell: "Je ne vous entends plus, je vais donc raccrocher. Au revoir."
  },
  es: {
    hold: "Perdone, no le he entendido. ¿Puede repetirlo, por favor?",
    apology: "Lo siento, tengo un problema técnico y debo terminar la llamada. Inténtelo más tarde. Adiós.",
    reengage: "¿Sigue ahí?",
    farewell: "Ya no le oigo, así que voy a colgar. Adiós."
  }
}

const english = lines["en"] as Readonly<Record<Line, string>>

/** In the agent's language where we have it, else in English. */
export const lineIn = (language: string, line: Line): string => (lines[language] ?? english)[line]
