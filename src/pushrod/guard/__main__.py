"""The guard process: started by file, apart from site-packages and the environment, and told the rest over its socket."""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("pushrod", 1)[0])
    from pushrod.guard.child import main

    main(int(sys.argv[1]), int(sys.argv[2]))
